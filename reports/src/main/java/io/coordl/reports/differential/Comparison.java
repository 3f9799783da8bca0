package io.coordl.reports.differential;

import io.coordl.event.JobStatisticsEvent;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What differs between phases that should differ in nothing but where the data come from, and which
 * of their differences measurement errors do not explain.
 */
final class Comparison {
  /** The last batch of a pass may be smaller. */
  private static final double SAME_SIZE = 0.02;

  private static final Set<String> MAY_DIFFER = Set.of("profile", "record", "summary");

  private Comparison() {}

  /** One sentence each; none if nothing is wrong. */
  static List<String> of(Phases phases) {
    List<String> remarks = new ArrayList<>();
    List<JobRecording> recordings = phases.recordings();
    differs("the program", recordings, recording -> job(recording, job -> job.mainClass))
        .ifPresent(remarks::add);
    differs("the library", recordings, recording -> job(recording, job -> job.frameworks))
        .ifPresent(remarks::add);
    differs("the JVM", recordings, Comparison::jvm).ifPresent(remarks::add);
    differs("the number of cores", recordings, Comparison::cores).ifPresent(remarks::add);
    Set<String> keys = new TreeSet<>();
    recordings.forEach(recording -> keys.addAll(recording.configuration().keySet()));
    keys.removeAll(MAY_DIFFER);
    for (String key : keys) {
      differs(
              "the argument " + key,
              recordings,
              recording -> recording.configuration().getOrDefault(key, "not given"))
          .ifPresent(remarks::add);
    }
    Map<String, String> workers = new LinkedHashMap<>();
    phases
        .timings()
        .forEach(
            (name, timing) -> {
              if (timing.workers() != null && !name.equals(Phases.INGESTION)) {
                workers.put(name, timing.workers().toString());
              }
            });
    differs("the number of workers", workers).ifPresent(remarks::add);
    sizes(phases).ifPresent(remarks::add);
    order(phases, Phases.INGESTION, Phases.CACHED, "no prep stall").ifPresent(remarks::add);
    order(phases, Phases.CACHED, Phases.COLD, "no fetch stall").ifPresent(remarks::add);
    return remarks;
  }

  private static @Nullable String job(
      JobRecording recording, Function<JobStatisticsEvent, @Nullable String> figure) {
    JobStatisticsEvent job = recording.job();
    return job == null ? null : figure.apply(job);
  }

  private static @Nullable String jvm(JobRecording recording) {
    Jvm jvm = recording.jvm();
    return jvm == null ? null : jvm.jvmVersion();
  }

  private static @Nullable String cores(JobRecording recording) {
    return recording.host() == null ? null : String.valueOf(recording.host().cores);
  }

  private static Optional<String> differs(
      String what, List<JobRecording> recordings, Function<JobRecording, @Nullable String> figure) {
    Map<String, String> values = new LinkedHashMap<>();
    for (JobRecording recording : recordings) {
      String value = figure.apply(recording);
      if (value != null) {
        values.put(recording.file().toString(), value);
      }
    }
    return differs(what, values);
  }

  private static Optional<String> differs(String what, Map<String, String> values) {
    if (Set.copyOf(values.values()).size() < 2) {
      return Optional.empty();
    }
    return Optional.of(
        what
            + " differs, so the difference of the times is not of the data alone: "
            + values.entrySet().stream()
                .map(entry -> entry.getValue() + " in " + entry.getKey())
                .collect(Collectors.joining(", "))
            + ".");
  }

  private static Optional<String> sizes(Phases phases) {
    List<Double> sizes =
        phases.timings().values().stream()
            .map(Timing::samplesPerBatch)
            .filter(Objects::nonNull)
            .toList();
    double largest = sizes.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    double smallest = sizes.stream().mapToDouble(Double::doubleValue).min().orElse(0);
    if (largest - smallest <= SAME_SIZE * largest) {
      return Optional.empty();
    }
    Map<String, String> values = new LinkedHashMap<>();
    phases
        .timings()
        .forEach(
            (name, timing) -> {
              if (timing.samplesPerBatch() != null) {
                values.put(name, String.format(Locale.ROOT, "%.1f", timing.samplesPerBatch()));
              }
            });
    return differs("the number of samples in a batch", values);
  }

  private static Optional<String> order(
      Phases phases, String without, String with, String conclusion) {
    Timing faster = phases.timings().get(without);
    Timing slower = phases.timings().get(with);
    if (faster == null || slower == null) {
      return Optional.empty();
    }
    Measure difference = slower.batchNanos().minus(faster.batchNanos());
    if (difference.value() >= 0) {
      return Optional.empty();
    }
    return Optional.of(
        "a batch took less time in the phase "
            + with
            + " than in "
            + without
            + (-difference.value() <= difference.error()
                ? ", by less than the error of measurement: " + conclusion + "."
                : ", by more than the error of measurement: something else changed between them,"
                    + " so do not rely on this profile."));
  }
}
