package io.coordl.reports.recording;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.coordl.event.EnvironmentEvent;
import io.coordl.event.EpochEvent;
import io.coordl.event.FaultEvent;
import io.coordl.event.Figures;
import io.coordl.event.GpuStatisticsEvent;
import io.coordl.event.HostEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.LibraryEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.PhaseEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
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
 * What CoorDL's events in one recording of one job say. Totals are those last written; an epoch is
 * there once.
 *
 * @param bytes size of the file
 * @param events number of all events in it, the JVM's own included
 * @param endsEarly true if the JVM died, or the job went on: what happened last is missing
 * @param jvm null if the recording does not say
 * @param job null if no totals were written
 * @param recent null if they were not written twice
 * @param epochs in the order of their numbers
 * @param libraries training libraries that the job uses
 * @param peers one for each other host that was asked
 * @param gpus devices that were sampled
 * @param stagings one for each pipeline with coordinated prep
 * @param latencies of the whole job, by kind
 * @param configuration the agent's arguments in force
 * @param given those of them that the user gave, by key
 * @param phases of a differential profile, in the order they were measured; empty if none was made
 * @param host null if no profile was made
 * @param faults number of fault events; the totals of {@code job} may know of more
 * @param firstFaults the first few different ones
 * @param steps of all epochs and evaluations, in their order; empty where nobody asked for them, or
 *     none are recorded
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
    List<StoreStatisticsEvent> stores,
    List<PeerStatisticsEvent> peers,
    List<StagingStatisticsEvent> stagings,
    List<GpuStatisticsEvent> gpus,
    List<LatencyStatisticsEvent> latencies,
    Map<String, String> configuration,
    Map<String, String> given,
    List<PhaseEvent> phases,
    @Nullable HostEvent host,
    @Nullable EnvironmentEvent environment,
    long faults,
    List<FaultEvent> firstFaults,
    List<Steps> steps) {

  /** So many steps of later epochs make those of the first dispensable. */
  private static final int ENOUGH_STEPS = 30;

  /**
   * What was counted between the last totals and those before.
   *
   * @param nanos between them; the wall time of the figures may be more or less, as that of a batch
   *     counts when it is over
   */
  public record Recent(long nanos, @JsonUnwrapped JobStatisticsEvent figures) {
    /** By the clock; 0 if not known. */
    @JsonProperty
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    public double samplesPerSecond() {
      return nanos <= 0 ? 0 : figures.samples * 1e9 / nanos;
    }
  }

  /**
   * One step with its wait and its batch; in a long job a few that followed each other.
   *
   * @param figures whose wall time is what they took
   */
  public record Steps(long firstEpoch, long lastEpoch, Figures figures) {}

  public @Nullable String mainClass() {
    return job == null ? null : job.mainClass;
  }

  public @Nullable String frameworks() {
    return job == null ? null : job.frameworks;
  }

  /**
   * True if updates of a model were seen, so that what has none is an evaluation. Where none was
   * seen, nobody knows which is what, and all count as epochs.
   */
  public boolean knowsTraining() {
    return (job != null && job.updates > 0) || epochs.stream().anyMatch(epoch -> epoch.updates > 0);
  }

  /**
   * The complete epochs of one source but for its first, which warms up: what a longer job would
   * look like. Evaluations are none; the source that computes longest counts.
   */
  public List<EpochEvent> steadyEpochs() {
    List<EpochEvent> all = completeEpochs();
    return all.isEmpty() ? all : all.subList(1, all.size());
  }

  /** The same with the first. */
  public List<EpochEvent> completeEpochs() {
    return trained(epochs.stream().filter(epoch -> epoch.complete));
  }

  /**
   * The steps of that source, those of epochs that were left early too. The first epoch fills
   * caches: its steps count only where the others have few. While no epoch has ended, nobody knows
   * which is what, and all count.
   */
  public List<Figures> trainingSteps() {
    if (epochs.isEmpty()) {
      return steps.stream().map(Steps::figures).toList();
    }
    List<EpochEvent> all = trained(epochs.stream());
    List<Figures> later = all.size() < 2 ? List.of() : stepsOf(all.subList(1, all.size()));
    return later.size() < ENOUGH_STEPS ? stepsOf(all) : later;
  }

  private List<Figures> stepsOf(List<EpochEvent> some) {
    Set<Long> ofIt = some.stream().map(epoch -> epoch.epoch).collect(Collectors.toSet());
    Set<Long> others =
        epochs.stream()
            .map(epoch -> epoch.epoch)
            .filter(number -> !ofIt.contains(number))
            .collect(Collectors.toCollection(TreeSet::new));
    return steps.stream()
        .filter(one -> ofIt.contains(one.firstEpoch) && ofIt.contains(one.lastEpoch))
        .filter(
            one ->
                one.firstEpoch == one.lastEpoch
                    || others.stream()
                        .noneMatch(other -> other > one.firstEpoch && other < one.lastEpoch))
        .map(Steps::figures)
        .toList();
  }

  /** Of some epochs those that train, of the source that computes longest. */
  private List<EpochEvent> trained(Stream<EpochEvent> some) {
    Map<String, List<EpochEvent>> sources =
        some.filter(epoch -> epoch.batches > 0)
            .filter(epoch -> epoch.updates > 0 || !knowsTraining())
            .collect(Collectors.groupingBy(epoch -> String.valueOf(epoch.source)));
    return sources.values().stream()
        .max(Comparator.comparingLong(all -> EpochEvent.sum(all.stream()).compute))
        .orElse(List.of());
  }
}
