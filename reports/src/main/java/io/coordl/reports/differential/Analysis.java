package io.coordl.reports.differential;

import io.coordl.reports.differential.Differential.Share;
import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.PhaseParts;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Computes a {@link Differential} from phases; an instance computes one. */
final class Analysis {
  /** The parts that the phases determine. */
  private static final Map<Part, ToDoubleFunction<PhaseParts>> PARTS =
      Map.of(
          Part.COMPUTE, PhaseParts::compute,
          Part.PREP_STALL, PhaseParts::prep,
          Part.FETCH_STALL, PhaseParts::fetch,
          Part.GC_STALL, PhaseParts::gc);

  private final Phases phases;
  private final Optional<JobRecording> ordinary;
  private final boolean perSample;
  private final List<Missing> missing;
  private final List<String> remarks = new ArrayList<>();

  Analysis(Phases phases, Optional<JobRecording> ordinary) {
    this.phases = phases;
    this.ordinary = ordinary;
    this.perSample =
        phases.timings().values().stream().allMatch(timing -> timing.samplesPerBatch() != null);
    this.missing = new ArrayList<>(phases.missing());
  }

  Differential differential() {
    remarks.addAll(Comparison.of(phases));
    @Nullable Attribution live = live();
    List<Share> shares =
        Stream.of(
                Part.COMPUTE,
                Part.PREP_STALL,
                Part.FETCH_STALL,
                Part.GC_STALL,
                Part.QUEUE_STALL,
                Part.CHECKPOINT)
            .map(part -> share(part, live))
            .toList();
    @Nullable Measure ingestion = time(Phases.INGESTION).map(Measure::perSecond).orElse(null);
    @Nullable Measure prep =
        rate(
            "prep rate P",
            Phases.PREP,
            Phases.INGESTION,
            Phases.CACHED,
            "preparation is hidden behind compute here");
    @Nullable Measure fetch =
        rate(
            "fetch rate F",
            Phases.FETCH,
            Phases.CACHED,
            Phases.COLD,
            "fetching is hidden behind preparation and compute here");
    List<Timing> timings =
        Stream.concat(phases.timings().values().stream(), phases.alone().stream()).toList();
    remarkBusy();
    remarkUnsteady(timings.stream().filter(timing -> !timing.steady()).toList());
    return new Differential(
        Differential.SCHEMA_VERSION,
        phases.recordings().stream().map(recording -> recording.file().toString()).toList(),
        first(phases.recordings(), JobRecording::mainClass),
        first(phases.recordings(), JobRecording::frameworks),
        perSample ? "sample" : "batch",
        first(timings, Timing::samplesPerBatch),
        workers(),
        timings,
        shares,
        live,
        ingestion,
        prep,
        fetch,
        limit(),
        List.copyOf(missing),
        List.copyOf(remarks));
  }

  private static <T, F> @Nullable F first(List<T> all, Function<T, @Nullable F> figure) {
    return all.stream().map(figure).filter(Objects::nonNull).findFirst().orElse(null);
  }

  private Optional<Measure> time(String phase) {
    return phases.timing(phase).map(timing -> timing.nanos(perSample));
  }

  private @Nullable Long workers() {
    return first(
        Stream.of(Phases.COLD, Phases.CACHED)
            .flatMap(name -> phases.timing(name).stream())
            .toList(),
        Timing::workers);
  }

  /**
   * Returns the live attribution of the ordinary recording, else of the cold phase, else of the
   * cold recording.
   */
  private @Nullable Attribution live() {
    Attribution phaseAttribution = phases.attributions().get(Phases.COLD);
    if (ordinary.isEmpty() && (phaseAttribution != null || phases.timing(Phases.COLD).isEmpty())) {
      return phaseAttribution;
    }
    return attribution(ordinary.orElseGet(phases::cold));
  }

  private @Nullable Attribution attribution(JobRecording recording) {
    JobStatisticsEvent job = recording.job();
    if (job == null || job.wall <= 0) {
      missing.add(
          new Missing(
              "live attribution",
              recording.file() + " has no totals: its JVM ended before the agent wrote them."));
      return null;
    }
    return new Attribution(recording.file().toString(), "job", job, recording.usableCores());
  }

  /**
   * Returns the share of a part; for a part that the phases do not determine, only the live figure.
   */
  private Share share(Part part, @Nullable Attribution live) {
    Optional<Measure[]> inputs = inputs().filter(all -> PARTS.containsKey(part));
    @Nullable Measure nanos = inputs.map(all -> bounded(part, times -> 1, all)).orElse(null);
    @Nullable Measure share = inputs.map(all -> bounded(part, times -> times[2], all)).orElse(null);
    @Nullable Double liveShare = live == null ? null : (Double) live.share(part);
    return new Share(
        part.field(),
        nanos,
        share,
        liveShare,
        liveShare == null || share == null ? null : (Double) (liveShare - share.value()));
  }

  /**
   * Returns the times per sample or batch in the phases ingestion, cached and cold, then the pauses
   * within the last two; empty if a phase is missing.
   */
  private Optional<Measure[]> inputs() {
    Optional<Measure> ingestion = time(Phases.INGESTION);
    Optional<Timing> cached = phases.timing(Phases.CACHED);
    Optional<Timing> cold = phases.timing(Phases.COLD);
    if (ingestion.isEmpty() || cached.isEmpty() || cold.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Measure[] {
          ingestion.get(),
          cached.get().nanos(perSample),
          cold.get().nanos(perSample),
          cached.get().pauses(perSample),
          cold.get().pauses(perSample)
        });
  }

  /**
   * Returns a part of {@code total}, clipped at 0. Its error is at least that of the unclipped
   * differences plus the amount cut off, because clipping noise does not make the figure more
   * certain.
   */
  private static Measure bounded(Part part, ToDoubleFunction<double[]> total, Measure[] all) {
    Measure measured =
        Measure.of(times -> part(part, PhaseParts.of(times)) / total.applyAsDouble(times), all);
    Measure bounded =
        Measure.of(
            times -> part(part, PhaseParts.bounded(times)) / total.applyAsDouble(times), all);
    double cut = Math.abs(measured.value() - bounded.value());
    return new Measure(bounded.value(), Math.max(bounded.error(), measured.error() + cut));
  }

  /**
   * Returns the rate of a stage: measured alone if possible; else derived from a pipeline without
   * overlap, or from one that this stage limits.
   */
  private @Nullable Measure rate(
      String name, String stage, String without, String with, String hidden) {
    Optional<Measure> alone = alone(stage);
    if (alone.isPresent()) {
      return alone.get();
    }
    Optional<Measure> stall = difference(without, with);
    Optional<Measure> time = isSerial() ? stall : time(with);
    if (stall.isPresent() && time.isPresent() && stall.get().exceedsItsError()) {
      return time.get().perSecond();
    }
    missing.add(
        new Missing(
            name,
            stall.isEmpty()
                ? Text.format(
                    "needs the phases %s and %s, or %s: make a profile with profile=all.",
                    without, with, stage)
                : Text.format(
                    "%s, so these phases do not show its rate; the phase %s of profile=all measures"
                        + " that stage alone.",
                    hidden, stage)));
    return null;
  }

  private boolean isSerial() {
    return Objects.equals(workers(), 0L);
  }

  private Optional<Measure> alone(String stage) {
    Long workers = workers();
    return phases
        .alone(stage, Math.max(1, workers == null ? 1 : workers))
        .map(timing -> timing.nanos(perSample).perSecond());
  }

  private Optional<Measure> difference(String without, String with) {
    return time(with).flatMap(later -> time(without).map(later::minus));
  }

  /**
   * Returns the largest part if it exceeds all others beyond measurement error and no difference is
   * significantly negative; otherwise {@link Differential#UNKNOWN}.
   */
  private String limit() {
    Optional<Measure[]> inputs = inputs();
    if (inputs.isEmpty()) {
      return Differential.UNKNOWN;
    }
    Measure[] all = inputs.get();
    Set<Part> parts = PARTS.keySet();
    Optional<Part> largest =
        parts.stream()
            .filter(
                one ->
                    parts.stream()
                        .filter(other -> other != one)
                        .allMatch(other -> exceeds(at -> part(one, at) - part(other, at), all)))
            .findFirst();
    if (largest.isPresent()
        && parts.stream().noneMatch(one -> exceeds(at -> -part(one, at), all))) {
      return largest.get().field();
    }
    missing.add(
        new Missing(
            "limit",
            "measurement errors are as large as the differences between the parts of an epoch;"
                + " rerun on an idle machine."));
    return Differential.UNKNOWN;
  }

  private static boolean exceeds(ToDoubleFunction<PhaseParts> figure, Measure[] all) {
    return Measure.of(times -> figure.applyAsDouble(PhaseParts.of(times)) / times[2], all)
        .exceedsItsError();
  }

  private static double part(Part part, PhaseParts parts) {
    return Objects.requireNonNull(PARTS.get(part)).applyAsDouble(parts);
  }

  private void remarkBusy() {
    String busy =
        phases.attributions().values().stream()
            .filter(phase -> phase.lost() > 0)
            .map(phase -> Text.format("%.0f %% of the phase %s", 100 * phase.lost(), phase.of()))
            .collect(Collectors.joining(", "));
    if (!busy.isEmpty()) {
      remarks.add(
          "other programs used the cores for "
              + busy
              + "; this time is not counted. Rerun on an idle machine.");
    }
  }

  private void remarkUnsteady(List<Timing> unsteady) {
    if (!unsteady.isEmpty()) {
      remarks.add(
          unsteady.stream().map(Analysis::describe).collect(Collectors.joining(", "))
              + " ended before times were steady.");
    }
  }

  private static String describe(Timing timing) {
    boolean alone = timing.phase().equals(Phases.PREP) || timing.phase().equals(Phases.FETCH);
    Long workers = alone ? timing.workers() : null;
    return timing.phase()
        + (workers == null ? "" : workers == 0 ? " on the training thread" : " by " + workers)
        + (timing.note() == null || timing.note().isBlank() ? "" : " (" + timing.note() + ")");
  }
}
