package io.coordl.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What observing costs once a job is under way, and what live view and metrics cost beside it: CPU
 * seconds of the later epochs of both examples, without start, warm-up and end. In each round a run
 * without the agent, one observed, and one observed with live view and metrics follow each other,
 * in an order that changes. What is averaged is the logarithm of the ratios within rounds, which is
 * zero in the mean if there is no cost, however much a round's runs differ. Rounds go on until both
 * 95 % intervals are narrow enough, or time is up. Arguments: minutes for each example (30), DJL,
 * DL4J or both (both), pictures (600). The exit status is 1 if a whole interval lies above its bar.
 */
public final class OverheadBenchmark {
  private static final int CLASSES = 4;
  private static final int WARM_UP_EPOCHS = 5;
  private static final int LAST_EPOCH = 13;

  /** Beyond the last that counts: what the end of a job costs is none of its epochs. */
  private static final int EPOCHS = LAST_EPOCH + 1;

  /** Whoever stops as soon as an interval is narrow stops too often by luck if there are fewer. */
  private static final int FEWEST = 10;

  /** Half width of the interval that is narrow enough, in percent; and the bars, in percent. */
  private static final double NARROW = 0.5;

  private static final double OBSERVING_BAR = 1;
  private static final double LIVE_BAR = 0.2;

  /** More often than anybody scrapes. */
  private static final Duration SCRAPE = Duration.ofSeconds(5);

  private OverheadBenchmark() {}

  /** See the class. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws IOException, InterruptedException {
    double minutes = args.length > 0 ? Double.parseDouble(args[0]) : 30;
    String only = args.length > 1 ? args[1] : "both";
    int pictures = args.length > 2 ? Integer.parseInt(args[2]) : 600;
    List<Example> examples =
        only.equals("both") ? List.of(Example.values()) : List.of(Example.valueOf(only));
    Checkout checkout = Checkout.find();
    DjlJob images = new DjlJob(checkout, checkout.work("overhead-" + pictures));
    images.makeImages(CLASSES, pictures / CLASSES);
    TextTable table =
        new TextTable(
            "example",
            "rounds",
            "no agent s",
            "observing %",
            "under " + OBSERVING_BAR,
            "live view and metrics %",
            "under " + LIVE_BAR);
    boolean within = true;
    for (Example example : examples) {
      within &= row(table, checkout, example, images.images(), minutes);
    }
    System.out.printf(
        Locale.ROOT,
        "%nCPU seconds of epochs %d to %d without JIT compilation, %d pictures; mean of the"
            + " logarithms of ratios within rounds, 95 %% interval (wider than ± %.1f: time was"
            + " up); on %s%n%s",
        WARM_UP_EPOCHS + 1,
        LAST_EPOCH,
        pictures,
        NARROW,
        Jdks.running(),
        table);
    System.out.println(
        "made by: " + Commands.of(checkout, OverheadBenchmark.class, String.join(" ", args)));
    System.exit(within ? 0 : 1);
  }

  private static boolean row(
      TextTable table, Checkout checkout, Example example, Path images, double minutes)
      throws IOException, InterruptedException {
    Path file = images.resolveSibling(example + ".jfr");
    Files.deleteIfExists(file);
    String recording = "record=" + file;
    List<Double> plain = new ArrayList<>();
    List<Double> observed = new ArrayList<>();
    List<Double> live = new ArrayList<>();
    steadyCpu(checkout, example, images, ""); // Files into the page cache, natives unpacked.
    long start = System.nanoTime();
    double spent = 0;
    do {
      int round = plain.size();
      double[] seconds = new double[3];
      for (int i = 0; i < seconds.length; i++) {
        // All six orders in turn, so that each run is first and follows each other one as often.
        int which = Math.floorMod(round + (round % 2 == 0 ? i : -i), seconds.length);
        seconds[which] =
            switch (which) {
              case 0 -> steadyCpu(checkout, example, images, "");
              case 1 -> steadyCpu(checkout, example, images, recording + ",summary=off,status=off");
              default -> scrapedCpu(checkout, example, images, recording + ",jmx=on");
            };
      }
      plain.add(seconds[0]);
      observed.add(100 * Math.log(seconds[1] / seconds[0]));
      live.add(100 * Math.log(seconds[2] / seconds[1]));
      spent = (System.nanoTime() - start) / 60e9;
      System.out.printf(
          Locale.ROOT,
          "  %s, round %d: %.2f s without the agent, observing %+.2f %%, live view and metrics"
              + " %+.2f %%; so far %s and %s%n",
          example,
          round + 1,
          seconds[0],
          observed.get(round),
          live.get(round),
          Interval.of(observed),
          Interval.of(live));
    } while (spent * (plain.size() + 1) / plain.size() <= minutes
        && !(plain.size() >= FEWEST && isNarrow(observed) && isNarrow(live)));
    if (!Files.exists(file)) {
      throw new IllegalStateException("No run was observed: there is no " + file);
    }
    table.row(
        example.name(),
        Integer.toString(plain.size()),
        String.format(Locale.ROOT, "%.2f", Pairs.median(plain)),
        Interval.of(observed).toString(),
        verdict(observed, OBSERVING_BAR),
        Interval.of(live).toString(),
        verdict(live, LIVE_BAR));
    return !verdict(observed, OBSERVING_BAR).equals("no") && !verdict(live, LIVE_BAR).equals("no");
  }

  private static boolean isNarrow(List<Double> percent) {
    return Interval.of(percent).half() <= NARROW;
  }

  private static String verdict(List<Double> percent, double bar) {
    Interval known = Interval.of(percent);
    if (known.mean() + known.half() <= bar) {
      return "yes";
    }
    return known.mean() - known.half() > bar ? "no" : "not known";
  }

  /** With somebody who asks for the metrics: nobody would say nothing of their cost. */
  private static double scrapedCpu(
      Checkout checkout, Example example, Path images, String arguments)
      throws IOException, InterruptedException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    URI metrics = URI.create("http://127.0.0.1:" + port + "/metrics");
    AtomicLong answers = new AtomicLong();
    ScheduledThreadPoolExecutor scraper = new ScheduledThreadPoolExecutor(1);
    Future<?> unused =
        scraper.scheduleAtFixedRate(
            () -> {
              try (InputStream answer = metrics.toURL().openStream()) {
                answer.readAllBytes();
                answers.incrementAndGet();
              } catch (IOException e) {
                // The job has not begun to listen, or has ended.
              }
            },
            0,
            SCRAPE.toMillis(),
            TimeUnit.MILLISECONDS);
    try {
      return steadyCpu(checkout, example, images, arguments + ",metrics=prometheus:" + port);
    } finally {
      scraper.shutdownNow();
      if (answers.get() == 0) {
        System.out.println("  no metrics were read: their cost is not in the figures");
      }
    }
  }

  private static double steadyCpu(Checkout checkout, Example example, Path images, String arguments)
      throws IOException, InterruptedException {
    ChildJvm job =
        example
            .program(checkout, Jdks.running())
            // Else what an idle compiler thread has used counts once the JVM has ended it.
            .jvmArgs("-XX:-UseDynamicNumberOfCompilerThreads")
            .args("--data", images.toString(), "--epochs", Integer.toString(EPOCHS), "--seed", "1");
    EpochCpu epochs = new EpochCpu();
    (arguments.isEmpty() ? job : job.agent(checkout.agentJar(), arguments))
        .echo(epochs)
        .run()
        .orFail("A run of the overhead benchmark");
    return epochs.seconds(WARM_UP_EPOCHS, LAST_EPOCH);
  }
}
