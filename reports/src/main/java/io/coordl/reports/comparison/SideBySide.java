package io.coordl.reports.comparison;

import io.coordl.advice.Advice;
import io.coordl.event.EnvironmentEvent;
import io.coordl.event.EpochEvent;
import io.coordl.event.Figures;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Jvm;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.whatif.Answer;
import io.coordl.reports.whatif.Figure;
import io.coordl.reports.whatif.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Recordings of several runs, each compared with the first, in the shape of the JSON, which {@code
 * compare.schema.json} describes.
 */
public record SideBySide(int schemaVersion, List<Run> runs) {
  static final int SCHEMA_VERSION = 1;

  /** Arguments that do not affect how the job works. */
  private static final Set<String> NO_CHANGE =
      Set.of("record", "summary", "status", "group", "checkpoint.dir", "jmx", "metrics");

  /** Questions whose figure is a speed relative to today's. */
  private static final Set<String> PREDICTING = Set.of("overlap", "decoded", "auto");

  /**
   * A run.
   *
   * @param timesAsFast speed relative to the first run; null for that run, and if nothing was
   *     trained
   * @param predicted upper bound of the relative speed that the first run's advice gave for these
   *     arguments; null if others were changed, or there was no advice
   * @param whatIf the relative speed, with its error, that {@code coordl whatif} predicts from the
   *     first run; null if no question covers the changes
   * @param changed differences from the first run: the agent's arguments in force, the program, the
   *     JVM, the host, its cores, the libraries, the agent
   */
  public record Run(
      @Nullable TimesAsFast timesAsFast,
      @Nullable Double predicted,
      @Nullable Measure whatIf,
      Map<String, Change> changed,
      Summary summary) {}

  /**
   * A ratio of speeds.
   *
   * @param error half the width of its 95 % confidence interval, from the spread of the epochs
   *     after the first; null unless each run has at least two of them
   * @param of which epochs are compared, in words
   */
  public record TimesAsFast(double value, @Nullable Double error, String of) {
    /** False if the runs may be equally fast. */
    boolean differs() {
      return error == null || Math.abs(value - 1) > error;
    }
  }

  /** Values of an argument; null if unknown. */
  public record Change(@Nullable String before, @Nullable String after) {}

  public static SideBySide of(List<JobRecording> recordings) {
    JobRecording first = recordings.get(0);
    List<Run> runs = new ArrayList<>();
    List<Answer> answers = WhatIf.of(first).answers();
    for (JobRecording recording : recordings) {
      Summary summary = Summary.of(recording);
      Map<String, Change> changed = changed(conditions(first), conditions(recording));
      runs.add(
          runs.isEmpty()
              ? new Run(null, null, null, Map.of(), summary)
              : new Run(
                  timesAsFast(first, recording),
                  predicted(runs.get(0).summary().next(), recording, changed.keySet()),
                  whatIf(answers, recording, changed.keySet()),
                  changed,
                  summary));
    }
    return new SideBySide(SCHEMA_VERSION, runs);
  }

  private static @Nullable Double predicted(Advice next, JobRecording after, Set<String> changed) {
    return next.gain() > 1 && isWhatWasDone(next.arguments(), after, changed)
        ? Double.valueOf(next.gain())
        : null;
  }

  /** The prediction with its error; only for questions whose figure is a relative speed. */
  private static @Nullable Measure whatIf(
      List<Answer> answers, JobRecording after, Set<String> changed) {
    for (Answer answer : answers) {
      Figure figure = answer.figure();
      if (figure != null
          && figure.measure().exceedsItsError()
          && PREDICTING.contains(answer.question())
          && isWhatWasDone(answer.arguments(), after, changed)) {
        return figure.measure();
      }
    }
    return null;
  }

  private static String key(String argument) {
    return argument.replaceFirst("=.*", "");
  }

  /**
   * Whether exactly these arguments were changed, so that nothing else can explain the difference.
   */
  private static boolean isWhatWasDone(
      List<String> arguments, JobRecording after, Set<String> changed) {
    Set<String> others = new TreeSet<>(changed);
    others.remove("program");
    arguments.forEach(argument -> others.remove(key(argument)));
    return others.isEmpty()
        && !arguments.isEmpty()
        && arguments.stream()
            .filter(argument -> !NO_CHANGE.contains(key(argument)))
            .allMatch(
                argument ->
                    argument
                        .replaceFirst("[^=]*=", "")
                        .equals(after.configuration().get(key(argument))));
  }

  /** The agent's arguments in force, the program and, if known, its environment. */
  private static Map<String, String> conditions(JobRecording recording) {
    Map<String, String> conditions = new TreeMap<>(recording.configuration());
    if (recording.mainClass() != null) {
      conditions.put("program", recording.mainClass());
    }
    Jvm jvm = recording.jvm();
    if (jvm != null && jvm.jvmVersion() != null) {
      conditions.put("jvm", jvm.jvmVersion());
    }
    EnvironmentEvent on = recording.environment();
    if (on != null) {
      conditions.put("host", String.valueOf(on.host));
      conditions.put("cores", Long.toString(on.cores));
      conditions.put("libraries", String.valueOf(on.libraries));
      conditions.put("agent", String.valueOf(on.agent));
    }
    return conditions;
  }

  private static Map<String, Change> changed(
      Map<String, String> before, Map<String, String> after) {
    Map<String, Change> changed = new TreeMap<>();
    Set<String> keys = new TreeSet<>(before.keySet());
    keys.addAll(after.keySet());
    keys.removeAll(NO_CHANGE);
    for (String key : keys) {
      Change change = new Change(before.get(key), after.get(key));
      if (!String.valueOf(change.before).equals(String.valueOf(change.after))) {
        changed.put(key, change);
      }
    }
    return changed;
  }

  private static @Nullable TimesAsFast timesAsFast(JobRecording before, JobRecording after) {
    List<EpochEvent> first = before.steadyEpochs();
    List<EpochEvent> second = after.steadyEpochs();
    ToLongFunction<Figures> amount =
        knowsSamples(before, first) && knowsSamples(after, second)
            ? figures -> figures.samples
            : figures -> figures.batches;
    if (first.size() < 2 || second.size() < 2) {
      boolean steady = !first.isEmpty() && !second.isEmpty();
      double nanos = nanos(steady ? EpochEvent.sum(first.stream()) : before.job(), amount);
      double now = nanos(steady ? EpochEvent.sum(second.stream()) : after.job(), amount);
      return nanos <= 0 || now <= 0
          ? null
          : new TimesAsFast(nanos / now, null, steady ? "in the second epoch" : "in the whole job");
    }
    Measure was = Measure.mean(first.stream().mapToDouble(epoch -> nanos(epoch, amount)).toArray());
    Measure is = Measure.mean(second.stream().mapToDouble(epoch -> nanos(epoch, amount)).toArray());
    String of = "from the second epoch on";
    if (!was.exceedsItsError() || !is.exceedsItsError()) {
      return new TimesAsFast(was.value() / is.value(), null, of);
    }
    Measure ratio = Measure.of(nanos -> nanos[0] / nanos[1], was, is);
    return new TimesAsFast(ratio.value(), ratio.error(), of);
  }

  private static boolean knowsSamples(JobRecording recording, List<EpochEvent> epochs) {
    return epochs.isEmpty()
        ? recording.job() != null && recording.job().samples > 0
        : epochs.stream().allMatch(epoch -> epoch.samples > 0);
  }

  /** Time of one sample or batch; 0 if there was none. */
  private static double nanos(@Nullable Figures figures, ToLongFunction<Figures> amount) {
    long all = figures == null ? 0 : amount.applyAsLong(figures);
    return figures == null || all == 0 ? 0 : (double) figures.wall / all;
  }
}
