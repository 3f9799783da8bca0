package io.coordl.reports.comparison;

import io.coordl.advice.Text;
import io.coordl.reports.comparison.SideBySide.Run;
import io.coordl.reports.comparison.SideBySide.TimesAsFast;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.summary.JobTable;
import io.coordl.reports.summary.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

public final class SideBySideText {
  private static final int LONGEST_NAME = 60;

  /** Slowest first; jobs of unknown speed come last. */
  public static final Comparator<Summary> SLOWEST_FIRST =
      Comparator.comparingDouble(
          summary -> speed(summary) == 0 ? Double.MAX_VALUE : speed(summary));

  private SideBySideText() {}

  /**
   * The changes from the first run to each of the others, and a table of all; without line ends.
   */
  public static List<String> lines(SideBySide compared) {
    List<String> lines = new ArrayList<>();
    String first = name(compared.runs().get(0).summary());
    for (Run run : compared.runs().subList(1, compared.runs().size())) {
      lines.add(sentence(run, name(run.summary()), first));
      lines.add("  " + changes(run));
    }
    lines.addAll(table(compared.runs().stream().map(Run::summary).toList()));
    return lines;
  }

  /** One sentence for each run except the first, with the given names. */
  public static List<String> sentences(SideBySide compared, List<String> names) {
    List<String> sentences = new ArrayList<>();
    for (int i = 1; i < names.size(); i++) {
      Run run = compared.runs().get(i);
      sentences.add(sentence(run, names.get(i), names.get(0)) + "; " + changes(run) + ".");
    }
    return sentences;
  }

  private static String changes(Run run) {
    return run.changed().isEmpty()
        ? "with the same arguments"
        : run.changed().entrySet().stream()
            .map(
                change -> {
                  String after = known(change.getValue().after());
                  String before = known(change.getValue().before());
                  int from = differsFrom(after, before);
                  return Text.format(
                      "%s=%s (was %s)", change.getKey(), value(after, from), value(before, from));
                })
            .collect(Collectors.joining(", ", "changed: ", ""));
  }

  private static String known(@Nullable String value) {
    return Objects.requireNonNullElse(value, "not known");
  }

  /** Start of the first differing word, if it would be cut off; else 0. */
  private static int differsFrom(String after, String before) {
    int same = Arrays.mismatch(after.toCharArray(), before.toCharArray());
    return same < LONGEST_NAME / 2 ? 0 : after.lastIndexOf(' ', same - 1) + 1;
  }

  private static String value(String value, int from) {
    return (from == 0 ? "" : "...") + Text.line(value.substring(from), LONGEST_NAME);
  }

  private static String sentence(Run run, String name, String first) {
    TimesAsFast times = run.timesAsFast();
    if (times == null) {
      return name + " cannot be compared: one of the two has trained nothing";
    }
    String ratio =
        Text.format("%.2f", times.value())
            + (times.error() == null ? "" : Text.format(" ± %.2f", times.error()));
    return name
        + (times.differs() ? " is " : " may be as fast as " + first + ": it is ")
        + ratio
        + (times.differs() ? " times as fast as " + first : " times as fast")
        + " "
        + times.of()
        + (times.error() == null ? " (too few epochs to say how sure that is)" : "")
        + predicted(run);
  }

  private static String predicted(Run run) {
    Measure range = run.whatIf();
    return range != null
        ? Text.format(
            "; predicted: %.2f to %.2f times",
            Math.max(0, range.value() - range.error()), range.value() + range.error())
        : run.predicted() == null
            ? ""
            : Text.format("; predicted: at most %.2f times", run.predicted());
  }

  private static String name(Summary summary) {
    return Text.line(summary.recording().file(), LONGEST_NAME);
  }

  /** One line for each, slowest first. */
  public static List<String> slowestFirst(List<Summary> summaries) {
    return table(summaries.stream().sorted(SLOWEST_FIRST).toList());
  }

  private static double speed(Summary summary) {
    return summary.speed() == null ? 0 : summary.speed().samplesPerSecond();
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
                  summary.decodedHits())
              + "  "
              + name(summary));
    }
    return lines;
  }
}
