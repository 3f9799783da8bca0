package io.coordl.reports.comparison;

import io.coordl.reports.comparison.SideBySide.Change;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Identifies the job of a recording and the conditions under which it ran. */
final class JobIdentity {
  /** Conditions that do not affect a job's speed or results. */
  static final Set<String> IGNORED_CONDITIONS =
      Set.of("record", "summary", "status", "group", "checkpoint.dir", "jmx", "metrics");

  /** Tolerance for sizes, because the last batch of an epoch may be smaller. */
  private static final double SAME_SIZE = 0.02;

  private JobIdentity() {}

  /**
   * Returns the differences that show that two recordings are of different jobs, by name; empty if
   * there are none.
   */
  static Map<String, Change> differences(JobRecording before, JobRecording after) {
    Map<String, Change> differences = new TreeMap<>();
    put(differences, "main class", before.program(), after.program());
    List<EpochEvent> earlier = before.completeEpochs();
    List<EpochEvent> later = after.completeEpochs();
    Set<String> datasets = datasets(before);
    Set<String> others = datasets(after);
    if (Collections.disjoint(datasets, others)) {
      put(differences, "data set", text(datasets), text(others));
    }
    put(
        differences,
        "samples per epoch",
        samples(earlier, earlier.size()),
        samples(later, later.size()));
    put(
        differences,
        "samples per batch",
        samples(earlier, batches(earlier)),
        samples(later, batches(later)));
    put(differences, "profiled", profiled(before), profiled(after));
    return differences;
  }

  /**
   * Returns the classes of the data sets, without the numbers of anonymous classes, which may
   * change.
   */
  private static Set<String> datasets(JobRecording recording) {
    Set<String> datasets = new TreeSet<>();
    for (EpochEvent epoch : recording.epochs()) {
      if (epoch.dataset != null) {
        datasets.add(epoch.dataset.replaceFirst("\\$\\d+$", "\\$"));
      }
    }
    return datasets;
  }

  private static @Nullable String text(Set<String> names) {
    return names.isEmpty() ? null : String.join(", ", names);
  }

  /** Describes whether the run was profiled: the phases of a profile delay the job. */
  private static String profiled(JobRecording recording) {
    return recording.phases().isEmpty() ? "no" : "yes";
  }

  private static long batches(List<EpochEvent> epochs) {
    return epochs.stream().mapToLong(epoch -> epoch.batches).sum();
  }

  private static @Nullable Double samples(List<EpochEvent> epochs, long per) {
    Figures sum = EpochEvent.sum(epochs.stream());
    return sum.samples == 0 || per == 0 ? null : (Double) ((double) sum.samples / per);
  }

  private static void put(
      Map<String, Change> differences,
      String name,
      @Nullable String before,
      @Nullable String after) {
    if (before != null && after != null && !before.equals(after)) {
      differences.put(name, new Change(before, after));
    }
  }

  private static void put(
      Map<String, Change> differences,
      String name,
      @Nullable Double before,
      @Nullable Double after) {
    if (before != null
        && after != null
        && Math.abs(after - before) > SAME_SIZE * Math.max(before, after)) {
      differences.put(name, new Change(Text.rate(before), Text.rate(after)));
    }
  }

  /** Returns the conditions that differ, by name. */
  static Map<String, Change> changed(JobRecording before, JobRecording after) {
    Map<String, String> earlier = conditions(before);
    Map<String, String> later = conditions(after);
    Map<String, Change> changed = new TreeMap<>();
    Set<String> keys = new TreeSet<>(earlier.keySet());
    keys.addAll(later.keySet());
    keys.removeAll(IGNORED_CONDITIONS);
    for (String key : keys) {
      Change change = new Change(earlier.get(key), later.get(key));
      if (!String.valueOf(change.before()).equals(String.valueOf(change.after()))) {
        changed.put(key, change);
      }
    }
    return changed;
  }

  /**
   * Returns the agent's effective arguments and, if known, the program, the JVM, the source of the
   * batches and the environment.
   */
  private static Map<String, String> conditions(JobRecording recording) {
    Map<String, String> conditions = new TreeMap<>(recording.configuration());
    if (recording.mainClass() != null) {
      conditions.put("program", recording.mainClass());
    }
    Jvm jvm = recording.jvm();
    if (jvm != null && jvm.jvmVersion() != null) {
      conditions.put("jvm", jvm.jvmVersion());
    }
    List<EpochEvent> epochs = recording.completeEpochs();
    if (!epochs.isEmpty() && epochs.get(0).source != null) {
      conditions.put("source", epochs.get(0).source);
    }
    EnvironmentEvent environment = recording.environment();
    if (environment != null) {
      conditions.put("host", String.valueOf(environment.host));
      conditions.put("cores", Long.toString(environment.cores));
      conditions.put("libraries", String.valueOf(environment.libraries));
      conditions.put("agent", String.valueOf(environment.agent));
    }
    return conditions;
  }

  /** Returns whether two runs are of the same job under the same conditions. */
  static boolean areEqual(JobRecording one, JobRecording other) {
    return changed(one, other).isEmpty() && differences(one, other).isEmpty();
  }
}
