package io.coordl.reports.summary;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.advice.Evidence;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FaultEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The summary of one recording, in the shape of its JSON. {@code summary.schema.json} describes it;
 * an incompatible change raises {@link #SCHEMA_VERSION}. Events are included unchanged ({@link
 * EventJson}).
 */
public record Summary(
    int schemaVersion,
    @Nullable Speed speed,
    Source recording,
    Program program,
    Map<String, String> configuration,
    Totals totals,
    List<Epoch> epochs,
    List<StoreStatisticsEvent> stores,
    List<PeerStatisticsEvent> peers,
    List<StagingStatisticsEvent> stagings,
    List<GpuStatisticsEvent> gpus,
    List<LatencyStatisticsEvent> latencies,
    Faults faults,
    @Nullable OpenWaitEvent openWait,
    Advice next) {

  static final int SCHEMA_VERSION = 2;

  /**
   * Speed of the job, over its representative epochs; absent for a profile, or if the size of any
   * batch is unknown.
   *
   * @param of which epochs these are, in words
   */
  public record Speed(double samplesPerSecond, String of) {}

  /**
   * The recording file.
   *
   * @param events number of events, including those of the JVM
   * @param endsEarly whether the recording ends before the job
   * @param stillRunning whether that is because the job's JVM is still running on this host
   */
  public record Source(
      String file, long fileBytes, long events, boolean endsEarly, boolean stillRunning) {}

  public record Program(
      @Nullable String mainClass,
      @Nullable String frameworks,
      @Nullable Long pid,
      @Nullable String jvm,
      @Nullable Instant started,
      String arguments,
      @JsonUnwrapped @Nullable EnvironmentEvent environment) {}

  /**
   * The totals.
   *
   * @param origin {@code job}: the agent's own totals; {@code epochs}: the sum of the epochs,
   *     because the recording ends before the agent wrote totals that include them
   * @param leftEarly epochs that ended early, without the current one
   */
  public record Totals(String origin, long leftEarly, @JsonUnwrapped JobStatisticsEvent figures) {}

  /**
   * A finished epoch or evaluation.
   *
   * @param kind {@code epoch} or {@code evaluation}; if no model update was recorded, they cannot
   *     be distinguished, and all count as epochs
   * @param number number among those of its kind
   */
  record Epoch(String kind, long number, @JsonUnwrapped EpochEvent figures) {
    static final String EPOCH = "epoch";
    static final String EVALUATION = "evaluation";

    boolean isEvaluation() {
      return kind.equals(EVALUATION);
    }

    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    double samplesPerSecond() {
      return figures.samplesPerSecond();
    }
  }

  record Faults(long count, List<FaultEvent> examples) {}

  public static Summary of(JobRecording recording) {
    List<Epoch> epochs = epochs(recording);
    Totals totals = totals(recording, epochs);
    Evidence evidence = evidence(recording, totals);
    double speed = evidence.samplesPerSecond();
    String of = evidence.ofWhat().strip();
    JobStatisticsEvent job = recording.job();
    Jvm jvm = recording.jvm();
    return new Summary(
        SCHEMA_VERSION,
        speed == 0 ? null : new Speed(speed, of.isEmpty() ? "in the whole job" : of),
        new Source(
            recording.file().toString(),
            recording.bytes(),
            recording.events(),
            recording.endsEarly(),
            isRunning(recording)),
        new Program(
            recording.mainClass(),
            recording.frameworks(),
            jvm == null ? null : jvm.pid(),
            jvm == null ? null : jvm.jvmVersion(),
            jvm == null ? null : Instant.ofEpochMilli(jvm.jvmStartTime()),
            new TreeMap<>(recording.given())
                .entrySet().stream().map(Object::toString).collect(Collectors.joining(",")),
            recording.environment()),
        new TreeMap<>(recording.configuration()),
        totals,
        epochs,
        recording.stores(),
        recording.peers(),
        recording.stagings(),
        recording.gpus(),
        recording.latencies(),
        new Faults(
            Math.max(recording.faults(), job == null ? 0 : job.faults), recording.firstFaults()),
        recording.openWait(),
        Advice.on(evidence));
  }

  /** Returns the evidence for the findings. */
  Evidence evidence(JobRecording recording) {
    return evidence(recording, totals);
  }

  private static Evidence evidence(JobRecording recording, Totals totals) {
    return new Evidence(
        totals.figures(),
        ended(recording.epochs().stream()),
        recording.stores(),
        recording.configuration(),
        recording.given(),
        recording.libraries(),
        recording.verdicts(),
        cores(recording.environment()),
        1 + recording.peers().size());
  }

  private static double cores(@Nullable EnvironmentEvent host) {
    return host == null ? 0 : host.usableCores();
  }

  /** Returns the numbers of epochs and evaluations, in words. */
  String epochsInWords() {
    return ended(epochs.stream().map(Epoch::figures))
        .describe(totals.figures(), recording.stillRunning());
  }

  /** Returns the number of items that came decoded or prepared from memory and were not fetched. */
  public long kept() {
    return hits(StoreStatisticsEvent.DECODED) + hits(StoreStatisticsEvent.PREPARED);
  }

  long hits(String form) {
    return stores.stream().filter(store -> store.keeps(form)).mapToLong(store -> store.hits).sum();
  }

  private static boolean isRunning(JobRecording recording) {
    Jvm jvm = recording.jvm();
    return recording.endsEarly() && jvm != null && jvm.isRunning();
  }

  private static Epochs ended(Stream<EpochEvent> epochs) {
    Epochs ended = new Epochs();
    epochs.forEach(ended::add);
    return ended;
  }

  /**
   * Returns the agent's totals or, if they lack the last epochs, the sum of the epochs. The agent
   * writes its totals whenever a chunk ends, but each epoch as soon as it has ended, so a crash or
   * a signal may come in between.
   */
  private static Totals totals(JobRecording recording, List<Epoch> epochs) {
    JobStatisticsEvent sum = new JobStatisticsEvent();
    epochs.forEach(epoch -> sum.add(epoch.figures()));
    sum.evaluations = epochs.stream().filter(Epoch::isEvaluation).count();
    sum.epochs = epochs.size() - sum.evaluations;
    JobStatisticsEvent job = recording.job();
    JobStatisticsEvent totals = job == null || isOlder(job, sum) ? sum : job;
    return new Totals(
        totals == sum ? "epochs" : "job",
        ended(recording.epochs().stream()).leftEarly(totals, isRunning(recording)),
        totals);
  }

  /**
   * Returns whether the job's totals are smaller than the sum of its epochs, and so were written
   * before the last epochs ended.
   */
  private static boolean isOlder(Figures job, Figures epochs) {
    return job.batches < epochs.batches || job.compute < epochs.compute || job.stall < epochs.stall;
  }

  private static List<Epoch> epochs(JobRecording recording) {
    Map<String, Long> numbers = new HashMap<>();
    List<Epoch> epochs = new ArrayList<>();
    for (EpochEvent epoch : recording.epochs()) {
      String kind =
          recording.knowsTraining() && epoch.updates == 0 ? Epoch.EVALUATION : Epoch.EPOCH;
      epochs.add(new Epoch(kind, numbers.merge(kind, 1L, Long::sum), epoch));
    }
    return epochs;
  }
}
