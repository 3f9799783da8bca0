package io.coordl.advice;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The passes that have ended, by pipeline: what the first came to, which warms up and fills caches,
 * and what those after it did, by which a job is judged. A pass that updates a model is an epoch,
 * any other an evaluation; where no update was ever seen, nobody knows which is what. Its memory
 * grows with the number of data sets only. Safe for concurrent use.
 */
public final class Passes {
  /** The passes of one kind over one data set. */
  private static final class Pipeline {
    private Figures first = Figures.NONE;
    private Figures later = Figures.NONE;
    private long count;
    private long complete;
    private long mostBytes;

    void add(Figures figures, boolean toTheEnd) {
      if (count++ == 0) {
        first = figures;
      } else {
        later = later.plus(figures);
      }
      complete += toTheEnd ? 1 : 0;
      mostBytes = Math.max(mostBytes, figures.bytes());
    }
  }

  private final Map<String, Pipeline> epochs = new LinkedHashMap<>();
  private final Map<String, Pipeline> others = new LinkedHashMap<>();

  /**
   * A pass has ended.
   *
   * @param updates whether it updated a model
   * @param source class of the iterator or data set
   * @param complete false if the loop left before the end
   */
  public synchronized void add(
      boolean updates, @Nullable String source, boolean complete, Figures figures) {
    (updates ? epochs : others)
        .computeIfAbsent(String.valueOf(source), first -> new Pipeline())
        .add(figures, complete);
  }

  /** Passes that ended without an update. */
  public synchronized long withoutUpdate() {
    return others.values().stream().mapToLong(pipeline -> pipeline.count).sum();
  }

  /**
   * The passes, counted; how many were left before their end is said.
   *
   * @param begun epochs so far, one that goes on among them
   * @param passes of any kind so far, likewise
   */
  public synchronized String words(long begun, long passes) {
    if (epochs.isEmpty() && begun == 0) {
      return Text.count(passes, "pass over data", "passes over data")
          + (others.size() < 2
              ? ""
              : new TreeMap<>(others)
                  .entrySet().stream()
                      .map(source -> source.getValue().count + " of " + source.getKey())
                      .collect(Collectors.joining(", ", " (", ")")));
    }
    long early = leftEarly(begun);
    long evaluations = withoutUpdate();
    return Text.count(begun, "epoch", "epochs")
        + (early == 0 ? "" : begun == 1 ? ", left early" : ", " + early + " of them left early")
        + (evaluations == 0
            ? ""
            : ", " + Text.count(evaluations, "evaluation pass", "evaluation passes"));
  }

  /**
   * How many passes over one pipeline the jobs of a group shared, and why not the others.
   *
   * @param updates whether they update a model
   * @param training whether any pass of the job does, so that one without is an evaluation
   */
  public static String shared(long shared, long passes, boolean updates, boolean training) {
    String of =
        updates
            ? Text.count(passes, "epoch", "epochs")
            : training
                ? Text.count(passes, "evaluation pass", "evaluation passes")
                : Text.count(passes, "pass", "passes");
    return shared
        + " of "
        + of
        + " shared"
        + (shared == passes ? "" : " (" + (passes - shared) + " while no other job took part)");
  }

  /** Of so many epochs those that did not come to their end, or have not yet. */
  public synchronized long leftEarly(long begun) {
    return Math.max(
        0, begun - epochs.values().stream().mapToLong(pipeline -> pipeline.complete).sum());
  }

  /** Whether there is an epoch after the first of its data set. */
  synchronized boolean steady() {
    return judgeable().stream().anyMatch(pipeline -> pipeline.later.batches() > 0);
  }

  /** The epochs after the first of each data set; where there is none, the first; or nothing. */
  public synchronized Figures judged() {
    return sum(judgeable().stream().map(steady() ? later -> later.later : first -> first.first));
  }

  /** What the judged time is of, to go on after "of the time" or a time; empty: the whole job. */
  synchronized String ofWhat() {
    boolean known = !epochs.isEmpty();
    if (steady()) {
      return known ? " from the second epoch on" : " after the first pass over each data set";
    }
    if (judged().batches() == 0) {
      return "";
    }
    return (judgeable().size() == 1 ? " in the only " : " in the first ")
        + (known ? "epoch" : "pass over the data");
  }

  private List<Pipeline> judgeable() {
    return new ArrayList<>((epochs.isEmpty() ? others : epochs).values());
  }

  /**
   * Every pass but the first of each pipeline, evaluations too: what a longer job would look like.
   * Training and evaluation take turns, so the number of the pass does not tell.
   */
  public synchronized Figures later() {
    return sum(pipelines().map(pipeline -> pipeline.later));
  }

  /** The most bytes that a pass asked for, over all pipelines: what a cache must hold. */
  public synchronized long bytes() {
    return pipelines().mapToLong(pipeline -> pipeline.mostBytes).sum();
  }

  private Stream<Pipeline> pipelines() {
    return Stream.concat(epochs.values().stream(), others.values().stream());
  }

  private static Figures sum(Stream<Figures> figures) {
    return figures.reduce(Figures.NONE, Figures::plus);
  }
}
