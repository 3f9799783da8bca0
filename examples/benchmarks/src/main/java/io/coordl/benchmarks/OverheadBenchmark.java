package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What observing costs once a job is under way, and what live view and metrics cost beside it: CPU
 * seconds of the later epochs of both examples, without start, warm-up and end. Runs without the
 * agent, observed, and observed with live view and metrics take turns until the 95 % interval of
 * the ratios is narrow enough, or the rounds are used up. Arguments: rounds at most (7), DJL or
 * DL4J (both). The exit status is 1 if an interval lies above its bar.
 */
public final class OverheadBenchmark {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int WARM_UP_EPOCHS = 5;
  private static final int EPOCHS = 13;
  private static final int FEWEST = 3;

  /** Half width of the interval that is narrow enough, in percent; and the bars, in percent. */
  private static final double NARROW = 0.5;

  private static final double OBSERVING_BAR = 1;
  private static final double LIVE_BAR = 0.2;

  private OverheadBenchmark() {}

  /** See the class. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws IOException, InterruptedException {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
    String only = args.length > 1 ? args[1] : "";
    Checkout checkout = Checkout.find();
    DjlJob images = new DjlJob(checkout, checkout.work("overhead"));
    images.makeImages(CLASSES, PER_CLASS);
    TextTable table =
        new TextTable(
            "example", "rounds", "no agent s", "observing %", "live view and metrics %", "bars");
    boolean within = true;
    for (Example example : Example.values()) {
      if (only.isEmpty() || only.equals(example.name())) {
        within &= row(table, checkout, example, images.images(), rounds);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%nCPU seconds of epochs %d to %d without JIT compilation; means of ratios within rounds,"
            + " 95 %% interval; bars: %.1f %%, and %.1f %% more for live view and metrics%n%s",
        WARM_UP_EPOCHS + 1,
        EPOCHS,
        OBSERVING_BAR,
        LIVE_BAR,
        table);
    System.out.println(
        "made by: " + Commands.of(checkout, OverheadBenchmark.class, String.join(" ", args)));
    System.exit(within ? 0 : 1);
  }

  private static boolean row(
      TextTable table, Checkout checkout, Example example, Path images, int rounds)
      throws IOException, InterruptedException {
    String observing = "summary=off,record=" + checkout.work("overhead").resolve(example + ".jfr");
    List<String> settings =
        List.of("", observing + ",status=off", observing + ",jmx=on,metrics=prometheus:0");
    List<Double> plain = new ArrayList<>();
    List<Double> observed = new ArrayList<>();
    List<Double> live = new ArrayList<>();
    steadyCpu(checkout, example, images, ""); // Files into the page cache, natives unpacked.
    for (int round = 0; round < rounds && !(round >= FEWEST && known(observed, live)); round++) {
      double[] seconds = new double[settings.size()];
      for (int i = 0; i < seconds.length; i++) {
        int which = (round + i) % seconds.length; // Each is first, second and third in turn.
        seconds[which] = steadyCpu(checkout, example, images, settings.get(which));
      }
      plain.add(seconds[0]);
      observed.add(100 * (seconds[1] / seconds[0] - 1));
      live.add(100 * (seconds[2] - seconds[1]) / seconds[0]);
      System.out.printf(
          Locale.ROOT,
          "  %s, round %d: %.2f s without the agent, observing %+.2f %%, live view and metrics"
              + " %+.2f %%%n",
          example,
          round + 1,
          seconds[0],
          observed.get(round),
          live.get(round));
    }
    String verdict =
        !known(observed, live)
            ? "not known within " + NARROW + " %"
            : below(observed, OBSERVING_BAR) && below(live, LIVE_BAR) ? "met" : "missed";
    table.row(
        example.name(),
        Integer.toString(plain.size()),
        String.format(Locale.ROOT, "%.2f", Pairs.median(plain)),
        Interval.of(observed).toString(),
        Interval.of(live).toString(),
        verdict);
    return !verdict.equals("missed");
  }

  private static boolean known(List<Double> observed, List<Double> live) {
    return Interval.of(observed).half() <= NARROW && Interval.of(live).half() <= NARROW;
  }

  private static boolean below(List<Double> percent, double bar) {
    return Interval.of(percent).mean() <= bar;
  }

  private static double steadyCpu(Checkout checkout, Example example, Path images, String arguments)
      throws IOException, InterruptedException {
    ChildJvm job =
        example
            .program(checkout, Jdks.running())
            .args("--data", images.toString(), "--epochs", Integer.toString(EPOCHS), "--seed", "1");
    EpochCpu epochs = new EpochCpu();
    (arguments.isEmpty() ? job : job.agent(checkout.agentJar(), arguments))
        .echo(epochs)
        .run()
        .orFail("A run of the overhead benchmark");
    return epochs.seconds(WARM_UP_EPOCHS, EPOCHS);
  }
}
