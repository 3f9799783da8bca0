package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.advice.Text.Nanos;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import io.coordl.reports.whatif.Answer.Series;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers as plain text of at most {@value #WIDTH} columns: a sentence and a table each. Questions
 * that have no answer for the same reason stand together.
 */
public final class WhatIfText {
  static final int WIDTH = 100;

  private static final int ROWS = 11;
  private static final int LONGEST_NAME = 60;
  private static final String INDENT = "   ";

  private WhatIfText() {}

  /** The lines, without line ends. */
  public static List<String> lines(WhatIf whatIf) {
    List<String> lines = new ArrayList<>();
    add(lines, "", "CoorDL what-if of " + whatIf.recording());
    addPipeline(lines, whatIf);
    int number = 1;
    Map<String, List<String>> withheld = new LinkedHashMap<>();
    for (Answer answer : whatIf.answers()) {
      if (answer.isWithheld()) {
        withheld
            .computeIfAbsent(answer.sentence(), sentence -> new ArrayList<>())
            .add(answer.title());
        continue;
      }
      lines.add("");
      lines.add(number++ + "  " + answer.title());
      add(lines, INDENT, answer.sentence());
      Plot plot = answer.plot();
      if (plot != null) {
        addTable(lines, plot);
      }
      if (!answer.arguments().isEmpty()) {
        add(
            lines,
            INDENT,
            "Try: -javaagent:coordl-agent.jar=" + String.join(",", answer.arguments()));
      }
    }
    withheld.forEach(
        (sentence, titles) -> {
          lines.add("");
          add(lines, "", "-  " + String.join("; ", titles));
          add(lines, INDENT, sentence);
        });
    addAssumptions(lines, whatIf);
    return lines;
  }

  private static void addPipeline(List<String> lines, WhatIf whatIf) {
    Pipeline pipeline = whatIf.pipeline();
    add(
        lines,
        "",
        "Program: "
            + Text.line(Objects.requireNonNullElse(whatIf.mainClass(), "unknown"), LONGEST_NAME)
            + (pipeline.frameworks().isEmpty()
                ? ""
                : ", " + Text.line(pipeline.frameworks(), LONGEST_NAME))
            + ", "
            + (pipeline.isSerial()
                ? "prepares on the training thread"
                : "prepares on "
                    + Text.count(pipeline.workers(), "thread", "threads")
                    + " beside it"));
    List<String> costs = new ArrayList<>();
    addCost(costs, "compute", pipeline.computeNanos());
    addCost(costs, "prep", pipeline.prepNanos());
    addCost(costs, "fetch from storage", pipeline.missNanos());
    if (!costs.isEmpty()) {
      add(lines, "", "A sample: " + String.join(", ", costs));
    }
    for (Pipeline.Check check : pipeline.checks()) {
      double off = check.predictedNanos().value() / check.measuredNanos().value() - 1;
      add(
          lines,
          "",
          "Check: phase "
              + check.phase()
              + " measured "
              + time(check.measuredNanos())
              + ", by these figures "
              + time(check.predictedNanos())
              + Text.format(" (%+.1f %%)", 100 * off));
    }
  }

  private static void addCost(List<String> costs, String name, @Nullable Measure nanos) {
    if (nanos != null) {
      costs.add(name + " " + time(nanos));
    }
  }

  private static String time(Measure nanos) {
    return new Nanos(Math.round(nanos.value())) + " +- " + new Nanos(Math.round(nanos.error()));
  }

  /** What several answers take for granted is said once. */
  private static void addAssumptions(List<String> lines, WhatIf whatIf) {
    Set<String> assumptions = new LinkedHashSet<>();
    whatIf.answers().forEach(answer -> assumptions.addAll(answer.assumptions()));
    if (assumptions.isEmpty()) {
      return;
    }
    lines.add("");
    lines.add("Taken for granted");
    assumptions.forEach(assumption -> add(lines, INDENT, "- " + assumption));
  }

  private static void addTable(List<String> lines, Plot plot) {
    List<Series> series = plot.series();
    int column = Math.min(22, (WIDTH - INDENT.length() - 14) / series.size());
    StringBuilder header =
        new StringBuilder(INDENT).append(Text.format("%14s", Text.line(plot.x().name(), 14)));
    for (Series one : series) {
      header.append(Text.format("%" + column + "s", Text.line(one.name(), column - 2)));
    }
    lines.add(header.toString());
    int points = series.get(0).points().size();
    int rows = Math.min(ROWS, points);
    for (int row = 0; row < rows; row++) {
      int at = rows == 1 ? 0 : Math.round((float) row * (points - 1) / (rows - 1));
      StringBuilder line =
          new StringBuilder(INDENT)
              .append(Text.format("%14s", value(plot.x(), series.get(0).points().get(at).x())));
      for (Series one : series) {
        line.append(Text.format("%" + column + "s", number(plot.y(), one.points().get(at).y())));
      }
      lines.add(line.toString());
    }
    Point today = plot.today();
    add(
        lines,
        INDENT,
        plot.y().name()
            + " in "
            + plot.y().unit()
            + (today == null
                ? ""
                : "; today: " + value(plot.x(), today.x()) + ", " + number(plot.y(), today.y())));
  }

  private static String number(Axis axis, Measure y) {
    return axis.unit().equals("share") ? Sketch.tenths(y.value()) : Sketch.number(y);
  }

  private static String value(Axis axis, double x) {
    return switch (axis.unit()) {
      case "share" -> Sketch.percent(x);
      case "bytes/s" -> Sketch.bytes(x) + "/s";
      case "times" -> Text.format("%.1f", x);
      default -> Text.format("%.0f", x);
    };
  }

  /** Breaks a text at blanks; a longer word keeps its line to itself. */
  private static void add(List<String> lines, String indent, String text) {
    StringBuilder line = new StringBuilder(indent);
    for (String word : text.split(" ", -1)) {
      boolean first = line.length() == indent.length();
      if (!first && line.length() + 1 + word.length() > WIDTH) {
        lines.add(line.toString());
        line = new StringBuilder(indent);
        first = true;
      }
      line.append(first ? "" : " ").append(word);
    }
    lines.add(line.toString());
  }
}
