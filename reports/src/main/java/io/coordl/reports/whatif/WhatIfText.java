package io.coordl.reports.whatif;

import static io.coordl.reports.whatif.Question.bytes;
import static io.coordl.reports.whatif.Question.percent;
import static io.coordl.reports.whatif.Question.tenths;

import io.coordl.reports.differential.DifferentialText;
import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Arguments;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Nanos;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Formats answers as folded plain text, each as a sentence and a table. Groups questions without an
 * answer by reason.
 */
public final class WhatIfText {
  /** Columns if the width of the terminal is unknown. */
  public static final int WIDTH = 100;

  private static final String INDENT = "   ";
  private static final int ROWS = 11;
  private static final int FIRST_COLUMN = 14;
  private static final int MAX_COLUMN_WIDTH = 22;

  private final List<String> lines = new ArrayList<>();

  private final int width;

  private WhatIfText(int width) {
    this.width = width;
  }

  public static List<String> lines(WhatIf whatIf, int width) {
    WhatIfText text = new WhatIfText(width);
    text.add("", "CoorDL what-if of " + whatIf.recording());
    text.addPipeline(whatIf.pipeline(), whatIf.mainClass());
    text.addAnswers(whatIf.answers());
    return text.lines;
  }

  private void addPipeline(Pipeline pipeline, @Nullable String mainClass) {
    String program = DifferentialText.program(mainClass, pipeline.frameworks, pipeline.workers);
    add("", "Program: " + program);
    List<String> costs = new ArrayList<>();
    addCost(costs, "compute", pipeline.computeNanos);
    addCost(costs, "prep", pipeline.prepNanos);
    addCost(costs, "fetch from storage", pipeline.missNanos);
    if (!costs.isEmpty()) {
      add("", "A sample: " + String.join(", ", costs));
    }
    for (Pipeline.Check check : pipeline.checks) {
      add(
          "",
          Text.format(
              "Check: %s%s measured %s, predicted %s (%+.1f %%)",
              pipeline.origin.equals("profile") ? "phase " : "",
              check.phase(),
              time(check.measuredNanos()),
              time(check.predictedNanos()),
              Math.round(1e3 * (check.predictedNanos().value() / check.measuredNanos().value() - 1))
                  / 10.0));
    }
  }

  private static void addCost(List<String> costs, String name, @Nullable Measure nanos) {
    if (nanos != null) {
      costs.add(name + " " + time(nanos));
    }
  }

  private static String time(Measure nanos) {
    return new Nanos(Math.round(nanos.value())) + " ± " + new Nanos(Math.round(nanos.error()));
  }

  private void addAnswers(List<Answer> answers) {
    int number = 1;
    Map<String, List<String>> unanswered = new LinkedHashMap<>();
    Set<String> assumptions = new LinkedHashSet<>();
    for (Answer answer : answers) {
      if (answer.plot() == null) {
        unanswered
            .computeIfAbsent(answer.sentence(), sentence -> new ArrayList<>())
            .add(answer.title());
        continue;
      }
      lines.add("");
      lines.add(number++ + "  " + answer.title());
      add(INDENT, answer.sentence());
      table(answer.plot(), width - INDENT.length()).forEach(line -> lines.add(INDENT + line));
      if (!answer.arguments().isEmpty()) {
        add(INDENT, "Try: " + Arguments.AGENT + String.join(",", answer.arguments()));
      }
      assumptions.addAll(answer.assumptions());
    }
    unanswered.forEach(
        (sentence, titles) -> {
          lines.add("");
          add("", "-  " + String.join("; ", titles));
          add(INDENT, sentence);
        });
    if (!assumptions.isEmpty()) {
      lines.add("");
      lines.add("Assumptions");
      assumptions.forEach(assumption -> add(INDENT, "- " + assumption));
    }
  }

  private void add(String indent, String text) {
    lines.addAll(Text.fold(indent + text, indent, width));
  }

  /** Formats a plot as a table of its curves: a header, some of the points, and a caption. */
  private static List<String> table(Plot plot, int width) {
    List<Series> series = plot.series();
    int column = Math.min(MAX_COLUMN_WIDTH, (width - FIRST_COLUMN) / series.size());
    List<String> lines = new ArrayList<>();
    lines.add(
        row(
            Text.line(plot.x().name(), FIRST_COLUMN),
            series.stream().map(one -> Text.line(one.name(), column - 2)).toList(),
            column));
    int points = series.get(0).points().size();
    int rows = Math.min(ROWS, points);
    for (int row = 0; row < rows; row++) {
      int at = rows == 1 ? 0 : Math.round((float) row * (points - 1) / (rows - 1));
      lines.add(
          row(
              value(plot.x(), series.get(0).points().get(at).x()),
              series.stream().map(one -> number(plot.y(), one.points().get(at).y())).toList(),
              column));
    }
    Point today = plot.today();
    lines.add(
        plot.y().name()
            + " in "
            + plot.y().unit()
            + (today == null
                ? ""
                : "; today: " + value(plot.x(), today.x()) + ", " + number(plot.y(), today.y())));
    return lines;
  }

  private static String row(String first, List<String> cells, int column) {
    StringBuilder row = new StringBuilder(Text.format("%" + FIRST_COLUMN + "s", first));
    cells.forEach(cell -> row.append(Text.format("%" + column + "s", cell)));
    return row.toString();
  }

  private static String number(Axis axis, Measure y) {
    return axis.unit().equals("share") ? tenths(y.value()) : y.text();
  }

  private static String value(Axis axis, double x) {
    return switch (axis.unit()) {
      case "share" -> percent(x);
      case "bytes/s" -> bytes(x) + "/s";
      case "times" -> Text.format("%.1f", x);
      default -> Text.format("%.0f", x);
    };
  }
}
