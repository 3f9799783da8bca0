package io.coordl.reports.differential;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks that phases differ only in the origin of their data, and that no phase is faster than it
 * should be.
 */
final class Comparison {
  /** Tolerance for batch sizes, because the last batch of an epoch may be smaller. */
  private static final double SAME_SIZE = 0.02;

  private static final Set<String> MAY_DIFFER = Set.of("profile", "record", "summary");

  private final Phases phases;
  private final List<String> remarks = new ArrayList<>();

  private Comparison(Phases phases) {
    this.phases = phases;
  }

  /** Returns the remarks, one sentence each; empty if nothing is wrong. */
  static List<String> of(Phases phases) {
    Comparison comparison = new Comparison(phases);
    comparison.compareRecordings();
    comparison.comparePhases();
    return comparison.remarks;
  }

  private void compareRecordings() {
    checkRecordings("the program", JobRecording::mainClass);
    checkRecordings("the library", JobRecording::frameworks);
    checkRecordings(
        "the JVM", recording -> recording.jvm() == null ? null : recording.jvm().jvmVersion());
    checkRecordings(
        "the number of cores",
        recording -> recording.host() == null ? null : recording.host().cores);
    Set<String> keys = new TreeSet<>();
    phases.recordings().forEach(recording -> keys.addAll(recording.configuration().keySet()));
    keys.removeAll(MAY_DIFFER);
    for (String key : keys) {
      checkRecordings(
          "the argument " + key,
          recording -> recording.configuration().getOrDefault(key, "not given"));
    }
  }

  private void checkRecordings(String what, Function<JobRecording, @Nullable Object> figure) {
    checkSame(what, phases.recordings(), recording -> recording.file().toString(), figure);
  }

  private void comparePhases() {
    Collection<Timing> timings = phases.timings().values();
    checkSame(
        "the number of workers",
        timings,
        Timing::phase,
        timing -> timing.phase().equals(Phases.INGESTION) ? null : timing.workers());
    DoubleSummaryStatistics samples =
        timings.stream()
            .map(Timing::samplesPerBatch)
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .summaryStatistics();
    if (samples.getMax() - samples.getMin() > SAME_SIZE * samples.getMax()) {
      checkSame(
          "the number of samples in a batch",
          timings,
          Timing::phase,
          timing ->
              timing.samplesPerBatch() == null
                  ? null
                  : Text.format("%.1f", timing.samplesPerBatch()));
    }
    checkOrder(Phases.INGESTION, Phases.CACHED, "no prep stall");
    checkOrder(Phases.CACHED, Phases.COLD, "no fetch stall");
  }

  /** Adds a remark if the known figures differ. */
  private <T> void checkSame(
      String what,
      Collection<T> all,
      Function<T, String> name,
      Function<T, @Nullable Object> figure) {
    List<T> known = all.stream().filter(one -> figure.apply(one) != null).toList();
    if (known.stream().map(figure).distinct().count() > 1) {
      remarks.add(
          what
              + " differs, so the times do not differ because of the data alone: "
              + known.stream()
                  .map(one -> figure.apply(one) + " in " + name.apply(one))
                  .collect(Collectors.joining(", "))
              + ".");
    }
  }

  private void checkOrder(String without, String with, String conclusion) {
    Timing faster = phases.timings().get(without);
    Timing slower = phases.timings().get(with);
    if (faster == null || slower == null) {
      return;
    }
    Measure difference = slower.batchNanos().minus(faster.batchNanos());
    if (difference.value() < 0) {
      remarks.add(
          Text.format(
              "a batch took less time in the phase %s than in %s, %s",
              with,
              without,
              -difference.value() <= difference.error()
                  ? "by less than the measurement error: " + conclusion + "."
                  : "by more than the measurement error: something else changed between them,"
                      + " so do not rely on this profile."));
    }
  }
}
