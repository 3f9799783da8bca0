package io.coordl.reports.whatif;

import io.coordl.advice.Arguments;
import io.coordl.advice.Text;
import io.coordl.advice.Text.Nanos;
import io.coordl.reports.differential.DifferentialText;
import io.coordl.reports.differential.Measure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers as plain text, folded: a sentence and a table each. Questions that have no answer for the
 * same reason stand together.
 */
public final class WhatIfText {
  /** Columns, where nobody says how many there are. */
  public static final int WIDTH = 100;

  private static final String INDENT = "   ";

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
              "Check: phase %s measured %s, by these figures %s (%+.1f %%)",
              check.phase(),
              time(check.measuredNanos()),
              time(check.predictedNanos()),
              100 * (check.predictedNanos().value() / check.measuredNanos().value() - 1)));
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
      TextChart.lines(answer.plot(), width - INDENT.length())
          .forEach(line -> lines.add(INDENT + line));
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
}
