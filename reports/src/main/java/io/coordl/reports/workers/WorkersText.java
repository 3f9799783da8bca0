package io.coordl.reports.workers;

import io.coordl.telemetry.advice.Text;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Formats a {@link WorkersReport}: one table per part, then which figures are measured and which
 * are modelled.
 */
public final class WorkersText {
  private static final int MAX_LINES = 40;
  private static final String NONE = "-";

  private final List<String> lines = new ArrayList<>();

  private WorkersText() {}

  public static List<String> lines(WorkersReport report) {
    WorkersText text = new WorkersText();
    if (report.shares() != null) {
      text.add(report.shares());
    }
    if (report.pipelines() != null) {
      text.add(report.pipelines());
    }
    if (report.placement() != null) {
      text.add(report.placement());
    }
    text.lines.add(
        "Measured    " + (report.measured().isEmpty() ? "nothing: all inputs are given" : ""));
    report.measured().forEach(sentence -> text.lines.add("  " + sentence));
    text.lines.add("Model       all other figures");
    report.model().forEach(sentence -> text.lines.add("  " + sentence));
    return text.lines;
  }

  private void print(String format, @Nullable Object... values) {
    lines.add(String.format(Locale.ROOT, format, values).stripTrailing());
  }

  // ---- shares

  private void add(Shares shares) {
    print("Unequal workers: a synchronous step of %,d samples", shares.batch());
    String row = "  %-12s %12s %9s %11s %8s  %12s %12s  %12s %12s %13s %7s";
    print(
        row,
        "worker",
        "ms a sample",
        "fixed ms",
        "supply /s",
        "most",
        "equal share",
        "its step ms",
        "best share",
        "its step ms",
        "demand /s",
        "weight");
    shares.workers().stream()
        .limit(MAX_LINES)
        .forEach(
            share -> {
              Worker worker = share.worker();
              print(
                  row,
                  worker.name(),
                  number(worker.millisPerSample()),
                  number(worker.fixedMillis()),
                  number(worker.suppliedPerSecond()),
                  worker.most() == null ? NONE : number((double) worker.most()),
                  number((double) share.equalSamples()),
                  share.equalMillis() == null ? "does not fit" : number(share.equalMillis()),
                  number((double) share.bestSamples()),
                  number(share.bestMillis()),
                  number(share.demandPerSecond()),
                  String.format(Locale.ROOT, "%.3f", share.weight()));
            });
    if (shares.workers().size() > MAX_LINES) {
      print("  and %,d more; --json lists all", shares.workers().size() - MAX_LINES);
    }
    Double equal = shares.equalStepMillis();
    if (equal == null) {
      print(
          "Equal shares do not fit into the memory of all workers. With the best shares a step"
              + " takes %s ms.",
          number(shares.bestStepMillis()));
    } else {
      print(
          "Equal shares take %s ms a step, the best shares %s ms: %.2fx as fast (%s ms with"
              + " fractions of samples).",
          number(equal),
          number(shares.bestStepMillis()),
          equal / shares.bestStepMillis(),
          number(shares.idealStepMillis()));
      print(
          shares.straggler() == null
              ? "No worker alone makes the others wait with equal shares."
              : "The straggler %s costs the others %s ms of each step with equal shares.",
          shares.straggler(),
          number(shares.stragglerCostMillis()));
    }
    Double bytes =
        shares.workers().stream()
            .map(Shares.Share::demandBytesPerSecond)
            .reduce(null, WorkersText::sum);
    if (bytes != null) {
      print("All workers together read %s/s.", bytes(bytes));
    }
  }

  private static @Nullable Double sum(@Nullable Double one, @Nullable Double other) {
    return one == null ? other : other == null ? one : (Double) (one + other);
  }

  // ---- pipelines

  private void add(Pipelines pipelines) {
    print(
        "Virtual workers: %d minibatch%s in flight, distance D = %d",
        pipelines.inFlight(), pipelines.inFlight() == 1 ? "" : "es", pipelines.distance());
    String row = "  %-12s %-20s %9s %14s %-16s %-30s %s";
    print(row, "worker", "GPUs", "in flight", "minibatches/s", "layers", "stages ms", "bottleneck");
    for (Pipelines.Virtual worker : pipelines.workers()) {
      for (VirtualWorker.Cut cut : worker.cuts()) {
        print(
            row,
            worker.name(),
            String.join(",", worker.gpus()),
            cut.inFlight(),
            String.format(Locale.ROOT, "%.2f", cut.perSecond()),
            cut.layers().stream().map(String::valueOf).collect(Collectors.joining(",")),
            cut.stageMillis().stream().map(WorkersText::number).collect(Collectors.joining(" ")),
            "stage " + (cut.bottleneck() + 1) + ", " + worker.gpus().get(cut.bottleneck()));
      }
    }
    print(
        "Together %s minibatches/s, because in the long run each worker completes as many waves as"
            + " the slowest; %s if each trained at its own rate.",
        number(pipelines.perSecond()), number(pipelines.unequalPerSecond()));
    print(
        "An update misses at most %d minibatches. D = %d hides pauses of up to %s ms of one worker"
            + " from the others, but not a worker that is always slower.",
        pipelines.stalenessMinibatches(),
        pipelines.distance(),
        number(pipelines.hiddenPauseMillis()));
    Double spread = pipelines.spread();
    if (spread != null) {
      print(
          "If the times of waves have a spread of %.1f %%, this share of the rate remains:",
          100 * spread);
      for (Pipelines.Distance distance : pipelines.distances()) {
        print(
            "  D = %-3d %6.1f %%, updates miss at most %d minibatches",
            distance.distance(), 100 * distance.efficiency(), distance.stalenessMinibatches());
      }
    }
    print(
        "Each worker sends %s/s of updates, and gets as much back.",
        bytes(pipelines.workers().get(0).pushedBytesPerSecond()));
    if (pipelines.demandBytesPerSecond() != null) {
      print("All workers together read %s/s.", bytes(pipelines.demandBytesPerSecond()));
    }
  }

  // ---- placement

  private void add(Placement placement) {
    print(
        "Layers on servers: %s, %s sent by each in a step",
        Text.count(placement.workers(), "worker", "workers"), megabytes(placement.totalBytes()));
    String row = "  %-30s %16s %16s %24s";
    print(row, "placement", "largest server", "communicates ms", "step ms");
    placement.ways().forEach(way -> add(row, way));
    Placement.FullyConnected fullyConnected = placement.fullyConnected();
    if (fullyConnected != null) {
      add(row, fullyConnected.way());
      print(
          "With the last %d fully connected layer%s computed at the server, a worker sends %s of"
              + " activations in place of %s of gradients.",
          fullyConnected.layers(),
          fullyConnected.layers() == 1 ? "" : "s",
          megabytes(fullyConnected.activationBytes()),
          megabytes(fullyConnected.parameterBytes()));
      print(
          "That is %.1f GFLOP a step for the server%s",
          fullyConnected.flops() / 1e9,
          fullyConnected.serverMillis() == null
              ? "; add flops= to the server to see whether it pays."
              : String.format(
                  Locale.ROOT,
                  ", %s ms: %s",
                  number(fullyConnected.serverMillis()),
                  Boolean.TRUE.equals(fullyConnected.pays()) ? "it pays." : "it does not pay."));
    }
    if (placement.deciding() != null) {
      print(
          "The layer %s alone determines the time: split it or move it; more servers do not help.",
          placement.deciding());
    }
  }

  private void add(String row, Placement.Way way) {
    double largest = way.serverBytes().stream().mapToDouble(Double::doubleValue).max().orElse(0);
    print(
        row,
        way.name(),
        megabytes(largest),
        number(way.millis()),
        way.stepMillis() == null
            ? NONE
            : number(way.stepMillis()) + " to " + number(way.stepMillisWithoutOverlap()));
  }

  // ---- figures

  static String number(@Nullable Double value) {
    if (value == null) {
      return NONE;
    }
    String pattern = Math.abs(value) >= 1000 ? "#,##0.#" : value >= 10 ? "0.##" : "0.###";
    return new DecimalFormat(pattern, DecimalFormatSymbols.getInstance(Locale.ROOT)).format(value);
  }

  static String bytes(double value) {
    return value < 1e6
        ? number(value / 1e3) + " kB"
        : value < 1e9 ? megabytes(value) : number(value / 1e9) + " GB";
  }

  private static String megabytes(double value) {
    return number(value / 1e6) + " MB";
  }
}
