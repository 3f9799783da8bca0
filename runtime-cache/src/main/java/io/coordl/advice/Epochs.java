package io.coordl.advice;

import io.coordl.event.EpochEvent;
import io.coordl.event.Figures;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LibraryEvent;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The epochs that have ended, by pipeline: what the first came to, which warms up and fills caches,
 * and what those after it did, by which a job is judged. What updates no model is an evaluation;
 * where no update was ever seen, nobody knows which is what, and all count as epochs. Its memory
 * grows with the number of data sets only. Safe for concurrent use.
 */
public final class Epochs {
  /** The epochs, or the evaluations, of one data set. */
  private static final class Pipeline {
    private final Figures first = new EpochEvent();
    private final Figures later = new EpochEvent();
    private long count;
    private long complete;
    private long mostBytes;

    void add(EpochEvent epoch) {
      (count++ == 0 ? first : later).add(epoch);
      complete += epoch.complete ? 1 : 0;
      mostBytes = Math.max(mostBytes, epoch.bytes());
    }
  }

  private final Map<String, Pipeline> updating = new LinkedHashMap<>();
  private final Map<String, Pipeline> others = new LinkedHashMap<>();

  public synchronized void add(EpochEvent epoch) {
    (epoch.updates > 0 ? updating : others)
        .computeIfAbsent(String.valueOf(epoch.source), first -> new Pipeline())
        .add(epoch);
  }

  /**
   * Whether a class of this library makes the batches of an epoch; true where none has ended, for
   * then nobody knows.
   */
  synchronized boolean areOf(LibraryEvent library) {
    Map<String, Pipeline> all = updating.isEmpty() ? others : updating;
    return all.isEmpty() || all.keySet().stream().anyMatch(library::owns);
  }

  public synchronized long withoutUpdate() {
    return others.values().stream().mapToLong(pipeline -> pipeline.count).sum();
  }

  /**
   * The epochs and evaluations, counted, and how many were left before their end; while the job
   * goes on, so does the epoch that has not ended.
   */
  public synchronized String words(JobStatisticsEvent job, boolean running) {
    String epochs = Text.count(job.epochs, "epoch", "epochs");
    if (job.updates == 0) {
      return epochs
          + " without a model update"
          + (others.size() < 2
              ? ""
              : new TreeMap<>(others)
                  .entrySet().stream()
                      .map(source -> source.getValue().count + " of " + source.getKey())
                      .collect(Collectors.joining(", ", " (", ")")));
    }
    long early = leftEarly(job, running);
    return epochs
        + (early == 0
            ? ""
            : job.epochs == 1 ? ", left early" : ", " + early + " of them left early")
        + (job.evaluations == 0
            ? ""
            : ", " + Text.count(job.evaluations, "evaluation", "evaluations"));
  }

  /**
   * How many epochs over one pipeline the jobs of a group shared, and why not the others.
   *
   * @param updates whether they update a model
   * @param training whether any epoch of the job does, so that one without is an evaluation
   */
  public static String shared(long shared, long epochs, boolean updates, boolean training) {
    return shared
        + " of "
        + (updates || !training
            ? Text.count(epochs, "epoch", "epochs")
            : Text.count(epochs, "evaluation", "evaluations"))
        + " shared"
        + (shared == epochs ? "" : " (" + (epochs - shared) + " while no other job took part)");
  }

  /** Of the job's epochs those that did not come to their end, and will not if it has ended. */
  public synchronized long leftEarly(JobStatisticsEvent job, boolean running) {
    long complete = updating.values().stream().mapToLong(pipeline -> pipeline.complete).sum();
    long ended = updating.values().stream().mapToLong(pipeline -> pipeline.count).sum();
    return job.updates == 0 ? 0 : Math.max(0, (running ? ended : job.epochs) - complete);
  }

  /** Whether there is an epoch after the first of its data set. */
  private boolean steady() {
    return judgeable().stream().anyMatch(pipeline -> pipeline.later.batches > 0);
  }

  /** The epochs after the first of each data set; where there is none, the first; or nothing. */
  public synchronized Figures judged() {
    return EpochEvent.sum(
        judgeable().stream().map(steady() ? later -> later.later : first -> first.first));
  }

  /** What the judged time is of, to go on after "of the time" or a time; empty: the whole job. */
  synchronized String ofWhat() {
    return steady()
        ? " from the second epoch on"
        : judged().batches == 0
            ? ""
            : judgeable().size() == 1 ? " in the only epoch" : " in the first epoch";
  }

  private Collection<Pipeline> judgeable() {
    return (updating.isEmpty() ? others : updating).values();
  }

  /**
   * All but the first of each pipeline, evaluations too: what a longer job would look like.
   * Training and evaluation take turns, so the number of the epoch does not tell.
   */
  public synchronized Figures later() {
    return EpochEvent.sum(pipelines().map(pipeline -> pipeline.later));
  }

  /** The most bytes that an epoch asked for, over all pipelines: what a cache must hold. */
  public synchronized long bytes() {
    return pipelines().mapToLong(pipeline -> pipeline.mostBytes).sum();
  }

  private Stream<Pipeline> pipelines() {
    return Stream.concat(updating.values().stream(), others.values().stream());
  }
}
