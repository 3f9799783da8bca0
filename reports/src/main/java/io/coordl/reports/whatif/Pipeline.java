package io.coordl.reports.whatif;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Student;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Measurements of one job's pipeline: the input of every answer and, as JSON, the data behind it.
 * Times are nanoseconds a sample, sizes bytes, rates bytes a second, shares 0 to 1; unknown counts
 * are 0, unknown measures null. Only the code that makes a pipeline sets fields.
 */
@JsonAutoDetect(
    fieldVisibility = Visibility.ANY,
    getterVisibility = Visibility.NONE,
    isGetterVisibility = Visibility.NONE)
public final class Pipeline implements Cloneable {
  /** A device that is busy for a smaller share of the time does not run the steps. */
  private static final double USED = 0.01;

  final String origin; // profile, or recording: an ordinary run, with larger errors
  long workers; // threads that prepare beside the training thread, 0 if it does so itself
  @Nullable Measure computeNanos;
  @Nullable Measure computeCores; // cores that a step keeps busy
  @Nullable Measure prepNanos; // preparation from memory, on one thread
  @Nullable Measure prepSerialShare; // share of prepNanos that more threads do not shorten
  @Nullable Measure missNanos; // extra time of a thread that reads from storage instead of memory
  @Nullable Measure storageRate; // highest rate that the storage delivers
  @Nullable Measure memoryRate;
  @Nullable Measure decodeNanos; // the part of prepNanos that decodes
  @Nullable Measure stepShareTaken; // ns by which each ns of concurrent preparation delays steps
  @Nullable Measure todayHit; // share of the items that memory answers today
  double sampleBytes; // stored bytes of a sample
  double batchSamples; // samples of a batch on this host
  @Nullable Peers peers; // null if the job queried no other host
  @Nullable Saves saves; // model saves; null if there were too few
  long datasetItems;
  long datasetBytes;
  long decodedItemBytes;
  long cores;
  long memoryBytes;
  long freeMemoryBytes;
  String frameworks = "";
  @JsonIgnore @Nullable Measure cachedNanos; // time of a sample in the phase cached
  @JsonIgnore double cachedCpuNanos; // CPU time of a sample in the phase cached; 0 if unknown
  @JsonIgnore double usableCores; // cores that the job may use; 0 if unknown
  @JsonIgnore boolean canBePrefetched; // whether the agent can prefetch the job's batches
  @JsonIgnore Map<String, String> given = Map.of(); // agent arguments that the user gave, by key
  List<String> assumptions = new ArrayList<>(); // assumptions of every answer
  List<Check> checks = new ArrayList<>(); // predicted against measured times
  List<Missing> missing = new ArrayList<>(); // components that were not measured

  Pipeline(String origin) {
    this.origin = origin;
  }

  /**
   * Compares a measured phase, or the steps or epochs of an ordinary run, with the model.
   *
   * @param measuredNanos measured time per sample
   * @param predictedNanos predicted time per sample
   */
  public record Check(String phase, Measure measuredNanos, Measure predictedNanos) {}

  /**
   * Peers of a job with a partitioned cache.
   *
   * @param hosts number of hosts that share the cache, this one included
   * @param share share of the items that other hosts answered, 0 to 1
   * @param rate bytes a second that a thread got from them
   * @param cacheBytes memory of this host's cache
   */
  public record Peers(long hosts, double share, double rate, long cacheBytes) {}

  /**
   * The model saves of a job.
   *
   * @param stepNanos time between two updates of the model, without saves
   * @param waitNanos time that training waits for a save
   * @param interval steps between two saves
   * @param async whether the saves were written in the background
   */
  public record Saves(Measure stepNanos, Measure waitNanos, double interval, boolean async) {
    private static final String TOO_FEW =
        "the recording needs at least two saves of the model and three complete epochs that train"
            + " it.";

    /** Returns the saves of a recording; null if there were too few. */
    private static @Nullable Saves of(JobRecording recording, LatencyStatisticsEvent saves) {
      JobStatisticsEvent job = recording.job();
      List<EpochEvent> epochs =
          recording.steadyEpochs().stream().filter(epoch -> epoch.updates > 0).toList();
      if (job == null || saves.count < 2 || epochs.size() < 2) {
        return null;
      }
      return new Saves(
          Measure.mean(
              epochs.stream()
                  .mapToDouble(epoch -> (double) (epoch.wall - epoch.checkpoint) / epoch.updates)
                  .toArray()),
          wait(saves),
          (double) job.updates / saves.count,
          "async".equals(recording.configuration().get("checkpoint")));
    }

    /**
     * Returns the mean wait for a save. Its error follows from the range of the waits, because a
     * standard deviation is at most half the range.
     */
    private static Measure wait(LatencyStatisticsEvent saves) {
      double deviation = (saves.maximum - saves.minimum) / 2.0;
      return new Measure(
          (double) saves.total / saves.count,
          Student.t((int) Math.min(saves.count - 1, Integer.MAX_VALUE))
              * deviation
              / Math.sqrt((double) (saves.count - 1)));
    }
  }

  /**
   * Returns the device that runs the steps: one that is busy and on which the job has memory; null
   * if there is none.
   */
  static @Nullable String device(JobRecording recording) {
    return recording.gpus().stream()
        .filter(gpu -> gpu.ownMemory > 0 && gpu.utilization() >= USED)
        .findFirst()
        .map(gpu -> "GPU " + gpu.device)
        .orElse(null);
  }

  /** Returns the assumption that follows from steps on this device. */
  static String onDevice(String device) {
    return "a step runs on "
        + device
        + " and leaves the cores to preparation (--compute-cores overrides this)";
  }

  static Pipeline of(JobRecording recording) {
    Pipeline pipeline =
        recording.phases().isEmpty()
            ? new ObservedPipeline(recording).pipeline()
            : new ProfiledPipeline(recording).pipeline();
    pipeline.given = recording.given();
    pipeline.canBePrefetched =
        recording.libraries().stream()
            .anyMatch(
                library ->
                    library.prefetched
                        && (recording.epochs().isEmpty()
                            || recording.epochs().stream()
                                .anyMatch(epoch -> library.owns(String.valueOf(epoch.source)))));
    recording.latencies().stream()
        .filter(latency -> "checkpoint".equals(latency.kind) && latency.count > 0)
        .findFirst()
        .ifPresent(
            saves -> {
              pipeline.saves = Saves.of(recording, saves);
              if (pipeline.saves == null) {
                pipeline.missing.add(new Missing("saves", Saves.TOO_FEW));
              }
            });
    return pipeline;
  }

  Pipeline copy() {
    try {
      return (Pipeline) clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns this pipeline with the user's number of cores for a step; null changes nothing. */
  Pipeline withComputeCores(@Nullable Double known) {
    Pipeline copy = copy();
    if (known != null) {
      copy.computeCores = Measure.exact(known);
      copy.missing = new ArrayList<>(missing);
      copy.missing.removeAll(cores == 0 ? List.of() : missing("cores"));
    }
    return copy;
  }

  /** Returns this pipeline with this storage rate, in bytes per second, if none was measured. */
  Pipeline withStorage(double rate) {
    if (storageRate != null || sampleBytes <= 0) {
      return this;
    }
    Pipeline copy = copy();
    copy.storageRate = Measure.exact(rate);
    copy.missNanos = missNanos == null ? Measure.exact(sampleBytes / rate * 1e9) : missNanos;
    copy.missing = new ArrayList<>(missing);
    copy.missing.removeAll(missing("storageRate", "missNanos"));
    return copy;
  }

  /** Returns the job as it is; an unknown number of cores is no limit. */
  Setup today() {
    double usable = usableCores > 0 ? usableCores : cores;
    Setup alone =
        Setup.of((double) workers, cores == 0 ? Double.POSITIVE_INFINITY : usable)
            .batch(batchSamples);
    // The thread's wait includes the network's time.
    return peers == null ? alone : alone.remote(peers.share(), sampleBytes / peers.rate() * 1e9, 0);
  }

  boolean isSerial() {
    return workers == 0;
  }

  /** Computes a figure from the costs, with its error; unmeasured components cost nothing. */
  Measure figure(ToDoubleFunction<Costs> figure) {
    return Measure.of(components -> figure.applyAsDouble(Costs.of(components)), inputs());
  }

  /** Returns the measures in the order of {@link Costs#of}. */
  private Measure[] inputs() {
    return Stream.of(
            computeNanos,
            computeCores,
            prepNanos,
            prepSerialShare,
            missNanos,
            nanos(storageRate),
            nanos(memoryRate),
            decodeNanos,
            todayHit,
            stepShareTaken)
        .map(measure -> Objects.requireNonNullElse(measure, Measure.exact(0)))
        .toArray(Measure[]::new);
  }

  /** Returns the time of a sample at a rate. */
  private @Nullable Measure nanos(@Nullable Measure rate) {
    return rate == null ? null : rate.perSecond().times(sampleBytes);
  }

  Measure nanos(Setup setup) {
    return figure(costs -> costs.nanos(setup));
  }

  /** Returns the samples a second of each job. */
  Measure speed(Setup setup) {
    return figure(costs -> 1e9 / costs.nanos(setup));
  }

  /** Returns the speed of the job in setup {@code to} relative to {@code from}. */
  Measure gain(Setup from, Setup to) {
    return figure(costs -> costs.nanos(from) / costs.nanos(to));
  }

  List<Missing> missing(String... components) {
    List<String> wanted = List.of(components);
    return missing.stream().filter(one -> wanted.contains(one.figure())).toList();
  }

  /**
   * Returns the free memory as a share of the data set, at most 1; 0 if the size of either is
   * unknown.
   */
  double memoryShare() {
    return datasetBytes == 0 ? 0 : Math.min(1, (double) freeMemoryBytes / datasetBytes);
  }
}
