package io.coordl.reports.differential;

import io.coordl.reports.differential.Differential.Share;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Nanos;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Formats a differential profile as lines of plain text; cuts long names. */
public final class DifferentialText {
  private static final int MAX_NAME_LENGTH = 100;

  private DifferentialText() {}

  public static List<String> lines(Differential differential) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "CoorDL differential profile of "
            + Text.line(String.join(", ", differential.recordings()), 3 * MAX_NAME_LENGTH));
    lines.add(
        "Program     "
            + program(differential.mainClass(), differential.frameworks(), differential.workers()));
    addTimings(lines, differential);
    addShares(lines, differential);
    addRates(lines, differential);
    for (Missing missing : differential.missing()) {
      lines.add("Missing     " + missing.figure() + ": " + missing.reason());
    }
    differential.remarks().forEach(remark -> lines.add("Remark      " + remark));
    return lines;
  }

  private static String label(String field) {
    return Arrays.stream(Part.values())
        .filter(part -> part.field().equals(field))
        .map(Part::label)
        .findFirst()
        .orElse(field);
  }

  /** Describes program, frameworks and preparing threads, each null if unknown. */
  public static String program(
      @Nullable String mainClass, @Nullable String frameworks, @Nullable Long workers) {
    return Text.line(Objects.requireNonNullElse(mainClass, "unknown"), MAX_NAME_LENGTH)
        + (frameworks == null || frameworks.isEmpty()
            ? ""
            : ", " + Text.line(frameworks, MAX_NAME_LENGTH))
        + (workers == null
            ? ""
            : workers == 0
                ? ", prepares on the training thread"
                : ", prepares on " + Text.count(workers, "worker thread", "worker threads"));
  }

  private static void addTimings(List<String> lines, Differential differential) {
    if (differential.timings().isEmpty()) {
      return;
    }
    boolean samples = differential.unit().equals("sample");
    lines.add(
        Text.format(
            "%-18s %8s %8s %9s %12s %10s   %s",
            "Phase",
            "workers",
            "warm-up",
            "steps",
            "a " + differential.unit(),
            "±",
            differential.unit() + (samples ? "s/s" : "es/s")));
    for (Timing timing : differential.timings()) {
      Measure nanos = timing.nanos(samples);
      lines.add(
          Text.format(
              "  %-16s %8s %8s %,9d %12s %10s   %s%s",
              timing.phase(),
              Objects.requireNonNullElse(timing.workers(), "-"),
              Objects.requireNonNullElse(timing.warmupSteps(), "-"),
              timing.steps(),
              new Nanos(Math.round(nanos.value())),
              new Nanos(Math.round(nanos.error())),
              number(nanos.perSecond()),
              timing.steady() ? "" : "  not steady"));
    }
  }

  private static void addShares(List<String> lines, Differential differential) {
    lines.add("Where an epoch's time goes          from phases       live   difference");
    for (Share share : differential.shares()) {
      Measure measured = share.share();
      Double live = share.live();
      Double difference = share.difference();
      if (measured == null && live == null) {
        continue;
      }
      lines.add(
          Text.format(
              "  %-26s %18s %10s %12s",
              label(share.part()),
              measured == null
                  ? "-"
                  : Text.format("%.1f ± %.1f %%", 100 * measured.value(), 100 * measured.error()),
              live == null ? "-" : Text.format("%.1f %%", 100 * live),
              difference == null ? "-" : Text.format("%+.1f", 100 * difference)));
    }
    Attribution live = differential.live();
    if (live != null) {
      lines.add(
          "Live        what the agent saw in "
              + (live.of().equals("job") ? "the job of " : "the phase " + live.of() + " of ")
              + Text.line(live.file(), MAX_NAME_LENGTH));
    }
  }

  private static void addRates(List<String> lines, Differential differential) {
    List<String> rates = new ArrayList<>();
    addRate(rates, "ingestion G", differential.ingestionRate());
    addRate(rates, "prep P", differential.prepRate());
    addRate(rates, "fetch F", differential.fetchRate());
    if (!rates.isEmpty()) {
      lines.add(
          "Rates       "
              + String.join(", ", rates)
              + (differential.unit().equals("sample") ? " samples/s" : " batches/s"));
    }
    if (!differential.limit().equals(Differential.UNKNOWN)) {
      lines.add("Limit       the largest part is " + label(differential.limit()));
    } else if (differential.missing().stream().anyMatch(one -> one.figure().equals("limit"))) {
      lines.add("Limit       unknown; rerun on an idle machine");
    }
  }

  private static void addRate(List<String> rates, String name, @Nullable Measure rate) {
    if (rate != null) {
      rates.add(name + " " + number(rate));
    }
  }

  private static String number(Measure measure) {
    String digits = measure.value() >= 100 ? "%,.0f" : "%,.2f";
    return Text.format(digits + " ± " + digits, measure.value(), measure.error());
  }
}
