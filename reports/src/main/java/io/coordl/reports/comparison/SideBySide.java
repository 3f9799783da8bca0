package io.coordl.reports.comparison;

import io.coordl.reports.comparison.RunSpeed.From;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.whatif.Answer;
import io.coordl.reports.whatif.Figure;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.steps.Ratio;
import io.coordl.telemetry.steps.StepMean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A comparison of the speeds of several recorded runs. Serialised to the JSON that {@code
 * compare.schema.json} describes.
 *
 * @param runs all of them, in the order of the command line
 */
public record SideBySide(int schemaVersion, List<Compared> comparisons, List<Summary> runs) {
  static final int SCHEMA_VERSION = 2;

  /** Questions whose figure is a speed relative to the recorded one. */
  private static final Set<String> PREDICTING = Set.of("overlap", "decoded", "auto");

  /**
   * If the slowest hundredth of the steps takes more than this share of the time, a remark says so.
   */
  private static final double HEAVY = 0.1;

  /**
   * Compares runs after a change with runs before it.
   *
   * @param before indices of the earlier runs in {@code runs}
   * @param after indices of the later runs in {@code runs}
   * @param different differences that make them different jobs; empty if there are none
   * @param timesAsFast speed relative to before; null if a run has trained nothing, or if they are
   *     different jobs and comparing those was not requested
   * @param equalRuns how much identical runs differ; null if there are no others
   * @param predicted the largest speed-up that the first run's advice gives for the changed
   *     arguments; null if other things were changed, or if it gave none
   * @param whatIf the speed-up, with its error, that {@code coordl whatif} predicts from the first
   *     run; null if it answers no question about this change
   * @param changed changes since before: the agent's effective arguments, the program, the class
   *     that makes batches, the JVM, the host, its cores, the libraries, the agent
   * @param remarks what a reader must know to judge the range
   */
  public record Compared(
      List<Integer> before,
      List<Integer> after,
      Map<String, Change> different,
      @Nullable TimesAsFast timesAsFast,
      @Nullable EqualRuns equalRuns,
      @Nullable Double predicted,
      @Nullable Measure whatIf,
      Map<String, Change> changed,
      List<Remark> remarks) {

    /** Returns whether the range includes the variation between runs. */
    boolean hasSeveralRuns() {
      return before.size() > 1 || after.size() > 1;
    }

    /** Returns false if the runs may be equally fast or are not compared. */
    boolean differs() {
      return timesAsFast != null
          && timesAsFast.differs()
          && (equalRuns == null || !equalRuns.explain(timesAsFast.value));
    }
  }

  /**
   * A ratio of speeds.
   *
   * @param low lower end of its 95 % confidence interval; null, like the high end, if too little is
   *     recorded
   * @param from {@code runs}, {@code steps}, {@code epochs} or {@code totals}: source of the speeds
   * @param of the same source in words
   */
  public record TimesAsFast(
      double value, @Nullable Double low, @Nullable Double high, String from, String of) {
    boolean differs() {
      return low == null || high == null || low > 1 || high < 1;
    }
  }

  /**
   * Runs of the same job under the same conditions as one of those compared.
   *
   * @param runs how many, including those compared
   * @param timesAsFast speed of the fastest relative to the slowest
   */
  public record EqualRuns(int runs, double timesAsFast) {
    boolean explain(double ratio) {
      return Math.max(ratio, 1 / ratio) <= timesAsFast;
    }
  }

  /** Values before and after; null if unknown. */
  public record Change(@Nullable String before, @Nullable String after) {}

  /** A sentence about one of the runs, worded to follow its name. */
  public record Remark(int run, String text) {}

  /** Compares every later recording with the first; different jobs are not compared. */
  public static SideBySide of(List<JobRecording> recordings) {
    return of(recordings, List.of(), false);
  }

  /**
   * Compares every later recording with the first.
   *
   * @param beside recordings that may show how much identical runs differ
   * @param different whether to compare different jobs too
   */
  public static SideBySide of(
      List<JobRecording> recordings, List<JobRecording> beside, boolean different) {
    List<Answer> answers = WhatIf.of(recordings.get(0)).answers();
    List<Compared> comparisons = new ArrayList<>();
    for (int i = 1; i < recordings.size(); i++) {
      comparisons.add(compared(recordings, List.of(0), List.of(i), answers, beside, different));
    }
    return new SideBySide(
        SCHEMA_VERSION, comparisons, recordings.stream().map(Summary::of).toList());
  }

  /**
   * Compares several runs after a change with several before it; the runs of each side must be
   * alike.
   */
  public static SideBySide ofSides(
      List<JobRecording> before, List<JobRecording> after, boolean different) {
    List<JobRecording> all = Stream.concat(before.stream(), after.stream()).toList();
    Compared compared =
        compared(
            all,
            IntStream.range(0, before.size()).boxed().toList(),
            IntStream.range(before.size(), all.size()).boxed().toList(),
            WhatIf.of(all.get(0)).answers(),
            List.of(),
            different);
    return new SideBySide(
        SCHEMA_VERSION, List.of(compared), all.stream().map(Summary::of).toList());
  }

  /**
   * Returns how a run differs from the first run of its side; empty if they are alike. Arguments of
   * the program may differ, such as the path of its log; the important ones show in the run's
   * batches.
   */
  public static Map<String, Change> unlike(JobRecording first, JobRecording other) {
    Map<String, Change> unlike = JobIdentity.differences(first, other);
    unlike.putAll(JobIdentity.changed(first, other));
    unlike.remove("program");
    return unlike;
  }

  private static Compared compared(
      List<JobRecording> all,
      List<Integer> before,
      List<Integer> after,
      List<Answer> answers,
      List<JobRecording> beside,
      boolean different) {
    List<JobRecording> first = before.stream().map(all::get).toList();
    List<JobRecording> second = after.stream().map(all::get).toList();
    JobRecording one = first.get(0);
    JobRecording other = second.get(0);
    Map<String, Change> differences = JobIdentity.differences(one, other);
    Map<String, Change> changed = JobIdentity.changed(one, other);
    boolean comparable = differences.isEmpty() || different;
    Speeds speeds = Speeds.of(first, second);
    return new Compared(
        before,
        after,
        differences,
        comparable ? speeds.timesAsFast() : null,
        before.size() > 1 || after.size() > 1 ? null : equalRuns(one, other, beside),
        predicted(Summary.of(one).next(), other, changed.keySet()),
        whatIf(answers, other, changed.keySet()),
        changed,
        comparable ? remarks(speeds, before, after) : List.of());
  }

  private static List<Remark> remarks(Speeds speeds, List<Integer> before, List<Integer> after) {
    List<Remark> remarks = new ArrayList<>();
    List<Integer> places = Stream.concat(before.stream(), after.stream()).toList();
    List<RunSpeed> all = Stream.concat(speeds.before.stream(), speeds.after.stream()).toList();
    for (int i = 0; i < all.size(); i++) {
      RunSpeed speed = all.get(i);
      if (!speed.steady()) {
        remarks.add(
            new Remark(
                places.get(i),
                "had not become steady: its steps were still becoming faster or slower, so only its"
                    + " second half counts"));
      }
      if (speed.lost() > 0) {
        remarks.add(
            new Remark(
                places.get(i),
                Text.format(
                    "ran on a busy machine: for %.0f %% of the time, other programs used the cores"
                        + " that its steps needed; this time is not counted",
                    100 * speed.lost())));
      }
      if (speed.slowestHundredth() > HEAVY) {
        remarks.add(
            new Remark(
                places.get(i),
                Text.format(
                    "has a few very long steps: the slowest 1 %% take %.0f %% of the time",
                    100 * speed.slowestHundredth())));
      }
    }
    return remarks;
  }

  /**
   * Speeds of the runs of both sides: from steps if all runs have enough of them, otherwise from
   * epochs or totals.
   */
  private record Speeds(List<RunSpeed> before, List<RunSpeed> after) {
    static Speeds of(List<JobRecording> before, List<JobRecording> after) {
      List<JobRecording> all = Stream.concat(before.stream(), after.stream()).toList();
      boolean samples = all.stream().allMatch(RunSpeed::knowsSamples);
      boolean steps = all.stream().allMatch(RunSpeed::hasSteps);
      return new Speeds(
          before.stream().map(run -> RunSpeed.of(run, samples, steps)).toList(),
          after.stream().map(run -> RunSpeed.of(run, samples, steps)).toList());
    }

    @Nullable TimesAsFast timesAsFast() {
      if (!Stream.concat(before.stream(), after.stream()).allMatch(RunSpeed::isKnown)) {
        return null;
      }
      if (before.size() > 1 || after.size() > 1) {
        Ratio ratio = Ratio.ofRuns(nanos(before), nanos(after));
        return new TimesAsFast(
            ratio.value(),
            ratio.low(),
            ratio.high(),
            "runs",
            Text.format("by %d and %d runs", before.size(), after.size()));
      }
      RunSpeed one = before.get(0);
      RunSpeed other = after.get(0);
      RunSpeed worse = one.from().compareTo(other.from()) < 0 ? other : one;
      String from = worse.from().name().toLowerCase(Locale.ROOT);
      StepMean was = one.mean();
      StepMean is = other.mean();
      if (was == null || is == null) {
        String of = worse.of();
        return new TimesAsFast(one.nanos() / other.nanos(), null, null, from, of);
      }
      Ratio ratio = Ratio.of(was, is);
      String of = worse.from() == From.STEPS ? "by their steps after warm-up" : worse.of();
      return new TimesAsFast(ratio.value(), ratio.low(), ratio.high(), from, of);
    }

    private static double[] nanos(List<RunSpeed> speeds) {
      return speeds.stream().mapToDouble(RunSpeed::nanos).toArray();
    }
  }

  /** Returns how much runs equal to one side or the other differ; null if there are none. */
  private static @Nullable EqualRuns equalRuns(
      JobRecording one, JobRecording other, List<JobRecording> beside) {
    int runs = 0;
    double most = 1;
    List<JobRecording> sides =
        JobIdentity.areEqual(one, other) ? List.of(one) : List.of(one, other);
    for (JobRecording side : sides) {
      List<JobRecording> equal =
          Stream.concat(
                  Stream.of(side), beside.stream().filter(run -> JobIdentity.areEqual(side, run)))
              .toList();
      double[] nanos =
          Speeds.of(equal, List.of()).before.stream()
              .filter(RunSpeed::isKnown)
              .mapToDouble(RunSpeed::nanos)
              .toArray();
      if (nanos.length > 1) {
        runs += nanos.length;
        most =
            Math.max(
                most,
                Arrays.stream(nanos).max().orElseThrow()
                    / Arrays.stream(nanos).min().orElseThrow());
      }
    }
    return runs == 0 ? null : new EqualRuns(runs, most);
  }

  private static @Nullable Double predicted(Advice next, JobRecording after, Set<String> changed) {
    return next.gain() > 1 && isOnlyChange(next.arguments(), after, changed)
        ? Double.valueOf(next.gain())
        : null;
  }

  /**
   * Returns the prediction with its error; null unless the change answers a question whose figure
   * is a relative speed.
   */
  private static @Nullable Measure whatIf(
      List<Answer> answers, JobRecording after, Set<String> changed) {
    for (Answer answer : answers) {
      Figure figure = answer.figure();
      if (figure != null
          && PREDICTING.contains(answer.question())
          && isOnlyChange(answer.arguments(), after, changed)) {
        return figure.measure();
      }
    }
    return null;
  }

  private static String key(String argument) {
    return argument.replaceFirst("=.*", "");
  }

  /**
   * Returns whether these arguments are in effect after the change, and nothing else was changed,
   * except possibly the program's arguments and the class that makes batches.
   */
  private static boolean isOnlyChange(
      List<String> arguments, JobRecording after, Set<String> changed) {
    Set<String> others = new TreeSet<>(changed);
    others.removeAll(Set.of("program", "source"));
    arguments.forEach(argument -> others.remove(key(argument)));
    return others.isEmpty()
        && !arguments.isEmpty()
        && arguments.stream()
            .filter(argument -> !JobIdentity.IGNORED_CONDITIONS.contains(key(argument)))
            .allMatch(
                argument ->
                    argument
                        .replaceFirst("[^=]*=", "")
                        .equals(after.configuration().get(key(argument))));
  }

  /** Returns the first comparison of different jobs; null if there is none. */
  public @Nullable Compared different() {
    return comparisons.stream().filter(one -> !one.different.isEmpty()).findFirst().orElse(null);
  }
}
