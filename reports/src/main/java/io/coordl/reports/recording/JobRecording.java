package io.coordl.reports.recording;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FaultEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.HostEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LayerEvent;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.PhaseEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The CoorDL events in one recording of one job. Totals are the last ones written; each epoch
 * occurs once.
 *
 * @param bytes size of the file; 0 if another tool read it
 * @param events number of events in the file, including the JVM's own; if another tool read the
 *     file, number of events taken
 * @param endsEarly true if the end is missing because the JVM was killed or still ran
 * @param jvm null if the recording does not contain it
 * @param job null if no totals were written
 * @param recent null unless totals were written at least twice
 * @param epochs ordered by number
 * @param libraries training libraries that the job uses
 * @param verdicts whether policies can work on the job's data; if not, why
 * @param peers one for each host that was queried
 * @param gpus devices that were sampled
 * @param stagings one for each pipeline with coordinated prep
 * @param latencies latencies over the whole job, by kind
 * @param layers layers of each model that made a step, in the model's order
 * @param configuration the agent's arguments in force
 * @param given the arguments that the user gave, by key
 * @param phases phases of a differential profile, in the order of measurement; empty if there was
 *     none
 * @param host null if no profile was made
 * @param faults number of fault events; the totals of {@code job} may count more
 * @param firstFaults the first few different ones
 * @param steps steps of all epochs and evaluations, in their order; empty if not requested or not
 *     recorded
 */
public record JobRecording(
    Path file,
    long bytes,
    long events,
    boolean endsEarly,
    @Nullable Jvm jvm,
    @Nullable JobStatisticsEvent job,
    @Nullable Recent recent,
    List<EpochEvent> epochs,
    List<LibraryEvent> libraries,
    List<VerdictEvent> verdicts,
    List<StoreStatisticsEvent> stores,
    List<PeerStatisticsEvent> peers,
    List<StagingStatisticsEvent> stagings,
    List<GpuStatisticsEvent> gpus,
    List<LatencyStatisticsEvent> latencies,
    List<LayerEvent> layers,
    Map<String, String> configuration,
    Map<String, String> given,
    List<PhaseEvent> phases,
    @Nullable HostEvent host,
    @Nullable OpenWaitEvent openWait,
    @Nullable EnvironmentEvent environment,
    long faults,
    List<FaultEvent> firstFaults,
    List<Steps> steps) {

  /** With at least this many steps in later epochs, those of the first do not count. */
  private static final int ENOUGH_STEPS = 30;

  /**
   * The figures of the time between the last two totals.
   *
   * @param nanos time between these totals; the wall time of the figures may differ, because a
   *     batch counts when it ends
   */
  public record Recent(long nanos, @JsonUnwrapped JobStatisticsEvent figures) {
    /** Returns samples per second of elapsed time; 0 if unknown. */
    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    public double samplesPerSecond() {
      return nanos <= 0 ? 0 : figures.samples * 1e9 / nanos;
    }
  }

  /**
   * One step with its wait and its batch; in a long job, several successive ones.
   *
   * @param figures the sum; wall time is the sum of waits, compute and checkpoints
   */
  public record Steps(long firstEpoch, long lastEpoch, Figures figures) {}

  /** Returns the main class with the program's arguments. */
  public @Nullable String mainClass() {
    return job == null ? null : job.mainClass;
  }

  /**
   * Returns the main class alone, because arguments such as a log's path may differ between runs of
   * a program.
   */
  public @Nullable String program() {
    String program = mainClass();
    return program == null ? null : program.strip().replaceFirst("\\s.*", "");
  }

  public @Nullable String frameworks() {
    return job == null ? null : job.frameworks;
  }

  /**
   * Returns whether model updates were recorded. If so, an epoch without updates is an evaluation;
   * otherwise the two cannot be distinguished, and all count as epochs.
   */
  public boolean knowsTraining() {
    return (job != null && job.updates > 0) || epochs.stream().anyMatch(epoch -> epoch.updates > 0);
  }

  /**
   * Returns the complete training epochs of the source with the most compute time, without the
   * first, which is warm-up. They represent a longer job.
   */
  public List<EpochEvent> steadyEpochs() {
    List<EpochEvent> all = completeEpochs();
    return all.isEmpty() ? all : all.subList(1, all.size());
  }

  /** Returns the same epochs as {@link #steadyEpochs}, and the first. */
  public List<EpochEvent> completeEpochs() {
    return trained(epochs.stream().filter(epoch -> epoch.complete));
  }

  /**
   * Returns the training steps of the source with the most compute time, including those of epochs
   * that were left early. The first epoch fills caches, so its steps count only if later epochs
   * have few. Until the first epoch has ended, training and evaluation cannot be distinguished, and
   * all steps count.
   */
  public List<Figures> trainingSteps() {
    if (epochs.isEmpty()) {
      return steps.stream().map(Steps::figures).toList();
    }
    List<EpochEvent> all = trained(epochs.stream());
    List<Figures> later = all.size() < 2 ? List.of() : stepsOf(all.subList(1, all.size()));
    return later.size() < ENOUGH_STEPS ? stepsOf(all) : later;
  }

  private List<Figures> stepsOf(List<EpochEvent> selected) {
    Set<Long> wanted = selected.stream().map(epoch -> epoch.epoch).collect(Collectors.toSet());
    Set<Long> others =
        epochs.stream()
            .map(epoch -> epoch.epoch)
            .filter(number -> !wanted.contains(number))
            .collect(Collectors.toCollection(TreeSet::new));
    return steps.stream()
        .filter(one -> wanted.contains(one.firstEpoch) && wanted.contains(one.lastEpoch))
        .filter(
            one ->
                one.firstEpoch == one.lastEpoch
                    || others.stream()
                        .noneMatch(other -> other > one.firstEpoch && other < one.lastEpoch))
        .map(Steps::figures)
        .toList();
  }

  /**
   * Returns the law by which work beside the steps slows them, in the steady epochs or, if there
   * are none, in the whole job.
   */
  public CoreLaw coreLaw() {
    List<EpochEvent> steady = steadyEpochs();
    Figures figures = steady.isEmpty() && job != null ? job : EpochEvent.sum(steady.stream());
    return new CoreLaw(figures, usableCores());
  }

  /** Returns the cores that the job may use; 0 if unknown. */
  public double usableCores() {
    return environment == null ? 0 : environment.usableCores();
  }

  /**
   * Returns the training epochs among {@code candidates}, of the source with the most compute time.
   */
  private List<EpochEvent> trained(Stream<EpochEvent> candidates) {
    Map<String, List<EpochEvent>> sources =
        candidates
            .filter(epoch -> epoch.batches > 0)
            .filter(epoch -> epoch.updates > 0 || !knowsTraining())
            .collect(Collectors.groupingBy(Epochs::key));
    return sources.values().stream()
        .max(Comparator.comparingLong(all -> EpochEvent.sum(all.stream()).compute))
        .orElse(List.of());
  }
}
