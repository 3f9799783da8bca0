package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cost of the agent's own checkpoints. Runs the same job three ways: without checkpoints, with
 * {@code checkpoint.every=auto} (allowed to take 3.5 % of the time), and with checkpoints four
 * times as often as {@code auto}. The cost of the frequent checkpoints gives the best interval: the
 * one that costs exactly 3.5 %. The cost shows in the mean step relative to the median step of the
 * same process; steps of different processes are not compared, because the speeds of processes
 * differ by more than the cost. Exits with 1 if {@code auto} takes more than 3.5 %, or its interval
 * is not within 10 % of the best. Arguments: rounds (5), seconds of each run (30), size of the file
 * in MB (1).
 */
public final class CadenceBenchmark {
  private static final double SHARE = 0.035;
  private static final double NEAR = 0.1;
  private static final int DENSER = 4;
  private static final Pattern STEPS =
      Pattern.compile("median step ([0-9.]+) ms, mean ([0-9.]+) times the median");
  private static final Pattern INTERVAL = Pattern.compile("one in (\\d+) steps at the end");

  private final Checkout checkout = Checkout.find();
  private final int rounds;
  private final String seconds;
  private final double size;
  private boolean met = true;

  private CadenceBenchmark(int rounds, String seconds, double size) {
    this.rounds = rounds;
    this.seconds = seconds;
    this.size = size;
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    CadenceBenchmark benchmark =
        new CadenceBenchmark(
            args.length > 0 ? Integer.parseInt(args[0]) : 5,
            args.length > 1 ? args[1] : "30",
            args.length > 2 ? Double.parseDouble(args[2]) : 1);
    TextTable table =
        new TextTable(
            "library",
            "step ms",
            "auto: one in",
            "costs %",
            "4 times as often %",
            "best: one in",
            "auto / best");
    benchmark.row(table, "DL4J", 11);
    benchmark.row(table, "DJL", 4);
    System.out.printf(
        "%nAgent checkpoints, medians of %d rounds of %s s, on %s%n%s",
        benchmark.rounds, benchmark.seconds, Jdks.running(), table);
    System.out.println(
        "bars: at most 3.5 % of the time, within 10 % of the best: "
            + (benchmark.met ? "met" : "missed"));
    System.exit(benchmark.met ? 0 : 1);
  }

  /** Results of one kind of run, by round. */
  private static final class Runs {
    final List<Double> steps = new ArrayList<>();
    final List<Double> means = new ArrayList<>();
    final List<Double> intervals = new ArrayList<>();
  }

  private void row(TextTable table, String library, int bytes)
      throws IOException, InterruptedException {
    String width = Integer.toString((int) Math.sqrt(size * 1e6 / bytes));
    Runs without = new Runs();
    Runs auto = new Runs();
    Runs often = new Runs();
    String denser = "";
    for (int round = 0; round < rounds; round++) {
      run(library, width, "off", without);
      run(library, width, "auto", auto);
      if (denser.isEmpty()) {
        double found = auto.intervals.get(0);
        denser = Long.toString(Math.max(1, Math.round(found / DENSER)));
      }
      run(library, width, denser, often);
    }
    double off = median(without.means);
    double chosen = median(auto.intervals);
    double cost = median(auto.means) / off - 1;
    double dense = median(often.means) / off - 1;
    double best = Double.parseDouble(denser) * dense / SHARE;
    table.row(
        library,
        number(median(without.steps)),
        number(chosen),
        number(100 * cost),
        number(100 * dense),
        number(best),
        String.format(Locale.ROOT, "%.2f", chosen / best));
    met &= cost <= SHARE && Math.abs(chosen / best - 1) <= NEAR;
  }

  private void run(String library, String width, String every, Runs runs)
      throws IOException, InterruptedException {
    Path work = Files.createDirectories(checkout.work("cadence"));
    ChildJvm job =
        CheckpointBenchmark.job(checkout, library)
            .environment("OMP_NUM_THREADS", "1") // Leaves other cores free to write.
            .args("measured", work.toString(), width, seconds);
    job.agent(
        checkout.agentJar(),
        every.equals("off")
            ? "record=off"
            : "record=off,checkpoint.every=" + every + ",checkpoint.dir=" + work.resolve("own"));
    ChildResult result = job.run().orFail(library + " " + every);
    Matcher rate = STEPS.matcher(result.out());
    Matcher interval = INTERVAL.matcher(result.err());
    boolean chooses = every.equals("auto");
    if (!rate.find() || (chooses && !interval.find())) {
      throw new IllegalStateException(result.out() + result.err());
    }
    runs.steps.add(Double.parseDouble(rate.group(1)));
    runs.means.add(Double.parseDouble(rate.group(2)));
    if (chooses) {
      runs.intervals.add(Double.parseDouble(interval.group(1)));
    }
    System.out.printf("  %s %s: %s%n", library, every, rate.group());
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
