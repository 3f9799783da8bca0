package io.coordl.reports.differential;

import io.coordl.advice.Text;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What differs between phases that should differ in nothing but where the data come from, and which
 * of their differences measurement errors do not explain.
 */
final class Comparison {
  /** The last batch of an epoch may be smaller. */
  private static final double SAME_SIZE = 0.02;

  private static final Set<String> MAY_DIFFER = Set.of("profile", "record", "summary");

  private final Phases phases;
  private final List<String> remarks = new ArrayList<>();

  private Comparison(Phases phases) {
    this.phases = phases;
  }

  /** One sentence each; none if nothing is wrong. */
  static List<String> of(Phases phases) {
    Comparison comparison = new Comparison(phases);
    comparison.compareRecordings();
    comparison.comparePhases();
    return comparison.remarks;
  }

  private void compareRecordings() {
    recordings("the program", recording -> job(recording).map(job -> job.mainClass));
    recordings("the library", recording -> job(recording).map(job -> job.frameworks));
    recordings("the JVM", recording -> Optional.ofNullable(recording.jvm()).map(Jvm::jvmVersion));
    recordings(
        "the number of cores",
        recording -> Optional.ofNullable(recording.host()).map(host -> host.cores));
    Set<String> keys = new TreeSet<>();
    phases.recordings().forEach(recording -> keys.addAll(recording.configuration().keySet()));
    keys.removeAll(MAY_DIFFER);
    for (String key : keys) {
      recordings(
          "the argument " + key,
          recording -> Optional.of(recording.configuration().getOrDefault(key, "not given")));
    }
  }

  private static Optional<JobStatisticsEvent> job(JobRecording recording) {
    return Optional.ofNullable(recording.job());
  }

  private void recordings(String what, Function<JobRecording, Optional<?>> figure) {
    Map<String, String> values = new LinkedHashMap<>();
    for (JobRecording recording : phases.recordings()) {
      figure
          .apply(recording)
          .ifPresent(value -> values.put(recording.file().toString(), value.toString()));
    }
    same(what, values);
  }

  private void comparePhases() {
    Map<String, String> workers = new LinkedHashMap<>();
    Map<String, String> sizes = new LinkedHashMap<>();
    phases
        .timings()
        .forEach(
            (name, timing) -> {
              if (timing.workers() != null && !name.equals(Phases.INGESTION)) {
                workers.put(name, timing.workers().toString());
              }
              if (timing.samplesPerBatch() != null) {
                sizes.put(name, Text.format("%.1f", timing.samplesPerBatch()));
              }
            });
    same("the number of workers", workers);
    DoubleSummaryStatistics samples =
        phases.timings().values().stream()
            .map(Timing::samplesPerBatch)
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .summaryStatistics();
    if (samples.getMax() - samples.getMin() > SAME_SIZE * samples.getMax()) {
      same("the number of samples in a batch", sizes);
    }
    order(Phases.INGESTION, Phases.CACHED, "no prep stall");
    order(Phases.CACHED, Phases.COLD, "no fetch stall");
  }

  private void same(String what, Map<String, String> values) {
    if (Set.copyOf(values.values()).size() > 1) {
      remarks.add(
          what
              + " differs, so the difference of the times is not of the data alone: "
              + values.entrySet().stream()
                  .map(entry -> entry.getValue() + " in " + entry.getKey())
                  .collect(Collectors.joining(", "))
              + ".");
    }
  }

  private void order(String without, String with, String conclusion) {
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
                  ? "by less than the error of measurement: " + conclusion + "."
                  : "by more than the error of measurement: something else changed between them,"
                      + " so do not rely on this profile."));
    }
  }
}
