package io.coordl.reports.comparison;

import io.coordl.reports.comparison.SideBySide.Change;
import io.coordl.reports.comparison.SideBySide.Compared;
import io.coordl.reports.comparison.SideBySide.EqualRuns;
import io.coordl.reports.comparison.SideBySide.TimesAsFast;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.summary.JobTable;
import io.coordl.reports.summary.Summary;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Formats comparisons and lists of runs as text. */
public final class SideBySideText {
  private static final int MAX_NAME_LENGTH = 60;

  /** Slowest first; jobs of unknown speed come last. */
  public static final Comparator<Summary> SLOWEST_FIRST =
      Comparator.comparingDouble(
          summary -> speed(summary) == 0 ? Double.MAX_VALUE : speed(summary));

  private SideBySideText() {}

  /**
   * Returns how every other run differs from the first, and a table of all runs; lines have no
   * terminators.
   */
  public static List<String> lines(SideBySide compared) {
    List<String> names = compared.runs().stream().map(SideBySideText::name).toList();
    List<String> lines = new ArrayList<>();
    for (Compared one : compared.comparisons()) {
      lines.add(sentence(one, names));
      lines.add("  " + changes(one));
      one.remarks().forEach(remark -> lines.add("  " + remark(remark, names)));
    }
    String spread = spread(compared);
    if (!spread.isEmpty()) {
      lines.add(spread);
    }
    lines.addAll(table(compared.runs()));
    return lines;
  }

  /**
   * Returns sentences for each run except the first, and on the variation between identical runs.
   * {@code names} has one name per run.
   */
  public static List<String> sentences(SideBySide compared, List<String> names) {
    List<String> sentences = new ArrayList<>();
    for (Compared one : compared.comparisons()) {
      sentences.add(sentence(one, names) + "; " + changes(one) + ".");
      one.remarks().forEach(remark -> sentences.add(remark(remark, names) + "."));
    }
    String spread = spread(compared);
    if (!spread.isEmpty()) {
      sentences.add(spread + ".");
    }
    return sentences;
  }

  private static String remark(SideBySide.Remark remark, List<String> names) {
    return names.get(remark.run()) + " " + remark.text();
  }

  /**
   * Returns a note on the variation between identical runs, which one run per side cannot show;
   * empty if the range includes it.
   */
  private static String spread(SideBySide compared) {
    List<Compared> single =
        compared.comparisons().stream()
            .filter(one -> one.timesAsFast() != null && !one.hasSeveralRuns())
            .toList();
    if (single.isEmpty()) {
      return "";
    }
    return single.stream()
        .map(Compared::equalRuns)
        .filter(Objects::nonNull)
        .max(Comparator.comparingDouble(EqualRuns::timesAsFast))
        .map(
            equal ->
                equal.timesAsFast() < 2
                    ? Text.format(
                        "Identical runs in the same directory differ by up to %.1f %% (%d runs)",
                        100 * (equal.timesAsFast() - 1), equal.runs())
                    : Text.format(
                        "Identical runs in the same directory differ in speed by up to %.1fx (%d"
                            + " runs): something else changed, or the machine was busy",
                        equal.timesAsFast(), equal.runs()))
        .orElse(
            "The variation between identical runs is unknown: record each side several times, and"
                + " compare them with coordl compare BEFORE1 BEFORE2 -- AFTER1 AFTER2");
  }

  private static String changes(Compared compared) {
    return compared.changed().isEmpty()
        ? "with the same arguments"
        : "changed: " + changes(compared.changed());
  }

  /** Formats the changed values, now and before. */
  public static String changes(Map<String, Change> changed) {
    return changed.entrySet().stream()
        .map(
            change -> {
              String after = known(change.getValue().after());
              String before = known(change.getValue().before());
              int from = differsFrom(after, before);
              return Text.format(
                  "%s=%s (was %s)", change.getKey(), value(after, from), value(before, from));
            })
        .collect(Collectors.joining(", "));
  }

  private static String known(@Nullable String value) {
    return Objects.requireNonNullElse(value, "unknown");
  }

  /** Returns the index of the first differing word if that word would be cut off, else 0. */
  private static int differsFrom(String after, String before) {
    int same = Arrays.mismatch(after.toCharArray(), before.toCharArray());
    return same < MAX_NAME_LENGTH / 2 ? 0 : after.lastIndexOf(' ', same - 1) + 1;
  }

  private static String value(String value, int from) {
    return (from == 0 ? "" : "...") + Text.line(value.substring(from), MAX_NAME_LENGTH);
  }

  private static String sentence(Compared compared, List<String> names) {
    String after = names(compared.after(), names);
    String before = names(compared.before(), names);
    boolean several = compared.after().size() > 1;
    TimesAsFast times = compared.timesAsFast();
    if (times == null) {
      return compared.different().isEmpty()
          ? after + " cannot be compared: one of the runs did not train"
          : different(compared, names);
    }
    boolean differs = compared.differs();
    return after
        + (differs
            ? (several ? " are " : " is ")
            : " may be as fast as " + before + ": " + (several ? "they are " : "it is "))
        + number(times.value(), times)
        + (differs ? "x as fast as " + before : "x as fast")
        + range(times)
        + (differs || !times.differs() ? "" : ", and identical runs differ by as much")
        + predicted(compared, times);
  }

  /** Returns a clause saying that the runs are of different jobs, and why, without a full stop. */
  public static String different(Compared compared, List<String> names) {
    return names(compared.after(), names)
        + " is not of the same job as "
        + names(compared.before(), names)
        + ", so their speeds are not compared: "
        + changes(compared.different());
  }

  private static String names(List<Integer> places, List<String> names) {
    String first = names.get(places.get(0));
    int more = places.size() - 1;
    return more == 0
        ? first
        : more == 1 ? first + " and " + names.get(places.get(1)) : first + " and " + more + " more";
  }

  private static String range(TimesAsFast times) {
    Double low = times.low();
    Double high = times.high();
    return low == null || high == null
        ? " " + times.of() + " (too little was recorded for a confidence interval)"
        : Text.format(" (%s to %s), %s", number(low, times), number(high, times), times.of());
  }

  /**
   * Formats a number with the digits that are significant given the range, at least two of them.
   */
  private static String number(double value, TimesAsFast times) {
    Double low = times.low();
    Double high = times.high();
    double width = low == null || high == null ? 0.1 : high - low;
    int digits = width >= 10 ? 0 : width >= 1 ? 1 : width >= 0.02 ? 2 : 3;
    int minDigits = value >= 10 ? 0 : value >= 1 ? 1 : 2;
    return Text.format("%,." + Math.max(digits, minDigits) + "f", value);
  }

  private static String predicted(Compared compared, TimesAsFast times) {
    Measure range = compared.whatIf();
    Double bound = compared.predicted();
    Double low = times.low();
    return range != null
        ? Text.format("; predicted: %.2fx to %.2fx", range.low(), range.high())
        : bound == null
            ? ""
            : Text.format("; predicted: at most %.2fx", bound)
                + (low != null && low > bound ? ", but the gain was larger" : "");
  }

  /** Returns the name of a run, shortened for text. */
  public static String name(Summary summary) {
    return Text.line(summary.recording().file(), MAX_NAME_LENGTH);
  }

  /** Returns a table with one line per run, slowest first. */
  public static List<String> slowestFirst(List<Summary> summaries) {
    return table(summaries.stream().sorted(SLOWEST_FIRST).toList());
  }

  private static double speed(Summary summary) {
    return summary.speed() == null ? 0 : summary.speed().samplesPerSecond();
  }

  /** Returns the user's arguments that affect how the job works. */
  private static String arguments(Summary summary) {
    String relevant =
        Stream.of(summary.program().arguments().split(","))
            .filter(
                argument ->
                    !JobIdentity.IGNORED_CONDITIONS.contains(argument.replaceFirst("=.*", "")))
            .filter(argument -> !argument.isEmpty())
            .collect(Collectors.joining(","));
    return relevant.isEmpty() ? "" : "  " + Text.line(relevant, MAX_NAME_LENGTH);
  }

  private static List<String> table(List<Summary> summaries) {
    List<String> lines = new ArrayList<>();
    lines.add(JobTable.header() + "  recording (in %)");
    for (Summary summary : summaries) {
      lines.add(
          JobTable.line(
                  speed(summary),
                  summary.totals().figures(),
                  summary.totals().figures().epochs,
                  summary.kept())
              + "  "
              + name(summary)
              + arguments(summary));
    }
    return lines;
  }
}
