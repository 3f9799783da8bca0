package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LibraryEvent;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Figures of the epochs that have ended, for each pipeline: those of the first epoch, which warms
 * up and fills caches, and those of the later ones, by which a job is judged. A pass without a
 * model update is an evaluation; if no update was ever seen, evaluations cannot be told from
 * epochs, and all passes count as epochs. Memory grows only with the number of data sets and
 * models. Safe for concurrent use.
 */
public final class Epochs {
  /** The epochs, or the evaluations, of one data set. */
  private static final class Pipeline {
    private final String source;
    private final String dataset;
    private final long model;
    private final Figures first = new EpochEvent();
    private final Figures later = new EpochEvent();
    private Figures last = new EpochEvent();
    private long count;
    private long complete;
    private long mostBytes;

    Pipeline(EpochEvent epoch) {
      this.source = String.valueOf(epoch.source);
      this.dataset = dataset(epoch);
      this.model = epoch.model;
    }

    void add(EpochEvent epoch) {
      (count++ == 0 ? first : later).add(epoch);
      last = epoch.complete && count > 1 ? epoch : last;
      complete += epoch.complete ? 1 : 0;
      mostBytes = Math.max(mostBytes, epoch.bytes());
    }
  }

  private final Map<String, Pipeline> updating = new LinkedHashMap<>();
  private final Map<String, Pipeline> others = new LinkedHashMap<>();

  public synchronized void add(EpochEvent epoch) {
    (epoch.updates > 0 ? updating : others)
        .computeIfAbsent(key(epoch), absent -> new Pipeline(epoch))
        .add(epoch);
  }

  /** Returns the class of the data and the model; epochs with the same key can be compared. */
  public static String key(EpochEvent epoch) {
    return dataset(epoch) + (epoch.model > 1 ? Sentence.OF_MODEL.with(epoch.model) : "");
  }

  private static String dataset(EpochEvent epoch) {
    return String.valueOf(epoch.dataset == null ? epoch.source : epoch.dataset);
  }

  /** Returns the classes of the judged data sets. */
  synchronized Set<String> judgedDatasets() {
    return judgeable().stream().map(pipeline -> pipeline.dataset).collect(Collectors.toSet());
  }

  /**
   * Whether a class of this library makes the batches of any epoch; true if no epoch has ended,
   * because the class is not known before that.
   */
  synchronized boolean areOf(LibraryEvent library) {
    Map<String, Pipeline> all = updating.isEmpty() ? others : updating;
    return all.isEmpty()
        || all.values().stream().anyMatch(pipeline -> library.owns(pipeline.source));
  }

  public synchronized long withoutUpdate() {
    return others.values().stream().mapToLong(pipeline -> pipeline.count).sum();
  }

  /**
   * Describes the number of epochs and evaluations, and how many epochs were left early; while the
   * job runs, the current epoch does not count as left early.
   */
  public synchronized String describe(JobStatisticsEvent job, boolean running) {
    String epochs = Text.count(job.epochs, "epoch", "epochs");
    if (job.updates == 0) {
      return Sentence.NO_UPDATE.with(
          epochs,
          others.size() < 2
              ? ""
              : Sentence.EPOCHS_OF.with(
                  new TreeMap<>(others)
                      .entrySet().stream()
                          .map(
                              source ->
                                  Sentence.OF_SOURCE.with(source.getValue().count, source.getKey()))
                          .collect(Collectors.joining(", "))));
    }
    long early = leftEarly(job, running);
    return epochs
        + (early == 0
            ? ""
            : job.epochs == 1 ? Sentence.LEFT_EARLY.with() : Sentence.SOME_LEFT_EARLY.with(early))
        + (job.evaluations == 0
            ? ""
            : ", " + Text.count(job.evaluations, "evaluation", "evaluations"));
  }

  /**
   * Describes the batches that failed, as a suffix to the number of the others; empty if none did.
   */
  public static String failures(Figures figures) {
    return figures.failedBatches == 0 ? "" : Sentence.FAILED_BATCHES.with(figures.failedBatches);
  }

  /**
   * Describes how many epochs over one pipeline the jobs of a group shared, and why they did not
   * share the others.
   *
   * @param updates whether these epochs update a model
   * @param training whether any epoch of the job updates a model; if so, others are evaluations
   */
  public static String shared(long shared, long epochs, boolean updates, boolean training) {
    return Sentence.SHARED.with(
        shared,
        updates || !training
            ? Text.count(epochs, "epoch", "epochs")
            : Text.count(epochs, "evaluation", "evaluations"),
        shared == epochs ? "" : Sentence.NOT_SHARED.with(epochs - shared));
  }

  /** Returns how many epochs were left early, including the last one once the job has ended. */
  public synchronized long leftEarly(JobStatisticsEvent job, boolean running) {
    long complete = updating.values().stream().mapToLong(pipeline -> pipeline.complete).sum();
    long ended = updating.values().stream().mapToLong(pipeline -> pipeline.count).sum();
    return job.updates == 0 ? 0 : Math.max(0, (running ? ended : job.epochs) - complete);
  }

  /** Whether the judged epochs come after the first of their data set. */
  synchronized boolean isSteady() {
    return judgeable().stream().anyMatch(pipeline -> pipeline.later.batches > 0);
  }

  /**
   * Returns the figures of the judged epochs: of the model that trained longest, the epochs after
   * the first of each data set, or else the first ones, if any.
   */
  public synchronized Figures judged() {
    return EpochEvent.sum(
        judgeable().stream().map(isSteady() ? one -> one.later : one -> one.first));
  }

  /**
   * Returns the figures of the last complete epoch of each judged data set, whose code is the
   * warmest; the judged figures if no epoch after the first is complete.
   */
  synchronized Figures last() {
    Figures last = EpochEvent.sum(judgeable().stream().map(pipeline -> pipeline.last));
    return last.batches > 0 ? last : judged();
  }

  /** Names the judged epochs, to follow "of the time" or a time; empty for the whole job. */
  synchronized String ofWhat() {
    return isSteady()
        ? Sentence.SECOND_EPOCH_ON.with(ofModel())
        : judged().batches == 0
            ? ""
            : (judgeable().size() == 1 ? Sentence.ONLY_EPOCH : Sentence.FIRST_EPOCH).with();
  }

  /** Returns the pipelines of the model that trained longest. */
  private Collection<Pipeline> judgeable() {
    Collection<Pipeline> all = (updating.isEmpty() ? others : updating).values();
    Map<Long, Long> walls = new HashMap<>();
    all.forEach(one -> walls.merge(one.model, one.first.wall + one.later.wall, Long::sum));
    long longest =
        walls.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse(0L);
    return all.stream().filter(one -> one.model == longest).toList();
  }

  private String ofModel() {
    long model = judgeable().stream().mapToLong(one -> one.model).findFirst().orElse(0);
    boolean several = updating.values().stream().anyMatch(one -> one.model != model);
    return several ? Sentence.OF_MODEL.with(model) : "";
  }

  /**
   * Returns the figures of all but the first epoch or evaluation of each pipeline, which a longer
   * job would resemble. Epoch numbers cannot tell which is the first, because training and
   * evaluation alternate.
   */
  public synchronized Figures later() {
    return EpochEvent.sum(pipelines().map(pipeline -> pipeline.later));
  }

  /**
   * Returns the most bytes that an epoch read, summed over all pipelines: a cache must hold these.
   */
  public synchronized long bytes() {
    return pipelines().mapToLong(pipeline -> pipeline.mostBytes).sum();
  }

  private Stream<Pipeline> pipelines() {
    return Stream.concat(updating.values().stream(), others.values().stream());
  }
}
