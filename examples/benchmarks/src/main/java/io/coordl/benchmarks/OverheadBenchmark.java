package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URISyntaxException;
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
 * Cost of observing a running job, and of live view and metrics, in CPU time of the later epochs of
 * both examples. Runs differ by more than this cost, so each JVM alternates between observed epochs
 * and epochs that run as if the agent had switched itself off ({@link AlternatingEpochs}). A JVM's
 * result is the interquartile mean of log(observed / off) over neighbouring epochs (robust against
 * slow seconds of the machine; 0 without any cost) plus the time of the agent's threads, which work
 * in both kinds of epochs. Live view and metrics run only on the agent's threads; one of them
 * answers scrapes. Intervals are over JVMs, because each compiles its code differently.
 *
 * <p>Arguments: JVMs for each example (8), DJL, DL4J or both (both), pictures (300), epochs of each
 * JVM (100). The exit status is 1 if a whole interval is above its limit.
 */
public final class OverheadBenchmark {
  private static final int CLASSES = 4;

  /** The first turn that is measured, in epoch 8; before it, JIT compilers are busy. */
  private static final int FIRST = 7;

  /** The most that observing may cost, in percent. */
  private static final double MAX_OBSERVING = 1;

  private static final double MAX_LIVE = 0.2;

  /** Interval between scrapes, shorter than usual. */
  private static final Duration SCRAPE = Duration.ofSeconds(5);

  /**
   * Cost in one JVM, in percent of the CPU time of its epochs.
   *
   * @param inTurns observed epochs compared with epochs without the agent
   * @param threads the agent's threads, except those of live view and metrics
   * @param live the threads of live view and metrics
   */
  private record Cost(double inTurns, double threads, double live) {}

  private OverheadBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws Exception {
    int jvms = args.length > 0 ? Integer.parseInt(args[0]) : 8;
    String only = args.length > 1 ? args[1] : "both";
    int pictures = args.length > 2 ? Integer.parseInt(args[2]) : 300;
    int epochs = args.length > 3 ? Integer.parseInt(args[3]) : 100;
    List<Example> examples =
        only.equals("both") ? List.of(Example.values()) : List.of(Example.valueOf(only));
    Checkout checkout = Checkout.find();
    DjlJob images = new DjlJob(checkout, checkout.work("overhead-" + pictures));
    images.makeImages(CLASSES, pictures / CLASSES);
    TextTable table =
        new TextTable(
            "example",
            "JVMs",
            "in turns %",
            "threads %",
            "observing %",
            "under " + MAX_OBSERVING,
            "live view and metrics %",
            "under " + MAX_LIVE);
    boolean within = true;
    for (Example example : examples) {
      List<Double> inTurns = new ArrayList<>();
      List<Double> threads = new ArrayList<>();
      List<Double> observing = new ArrayList<>();
      List<Double> live = new ArrayList<>();
      for (int jvm = 1; jvm <= jvms; jvm++) {
        Cost cost = measure(checkout, example, images.images(), epochs);
        inTurns.add(cost.inTurns);
        threads.add(cost.threads);
        observing.add(cost.inTurns + cost.threads);
        live.add(cost.live);
        System.out.printf(
            Locale.ROOT,
            "  %s, JVM %d: in turns %+.2f %%, threads %.2f %%, live view and metrics %.3f %%; so"
                + " far %s and %s%n",
            example,
            jvm,
            cost.inTurns,
            cost.threads,
            cost.live,
            Interval.of(observing),
            Interval.of(live));
      }
      String observingVerdict = verdict(observing, MAX_OBSERVING);
      String liveVerdict = verdict(live, MAX_LIVE);
      within &= !observingVerdict.equals("no") && !liveVerdict.equals("no");
      table.row(
          example.name(),
          Integer.toString(jvms),
          Interval.of(inTurns).toString(),
          Interval.of(threads).toString(),
          Interval.of(observing).toString(),
          observingVerdict,
          Interval.of(live).toString(),
          liveVerdict);
    }
    System.out.printf(
        Locale.ROOT,
        "%nCPU time of epochs %d to %d without JIT compilation, %d pictures; means over JVMs and 95"
            + " %% intervals; on %s%n%s",
        FIRST + 1,
        epochs,
        pictures,
        Jdks.running(),
        table);
    System.out.println("made by: " + Commands.of(checkout, OverheadBenchmark.class, args));
    System.exit(within ? 0 : 1);
  }

  private static String verdict(List<Double> percent, double limit) {
    Interval known = Interval.of(percent);
    if (known.mean() + known.halfWidth() <= limit) {
      return "yes";
    }
    return known.mean() - known.halfWidth() > limit ? "no" : "not known";
  }

  private static Cost measure(Checkout checkout, Example example, Path images, int epochs)
      throws IOException, InterruptedException, URISyntaxException {
    Path file = images.resolveSibling(example + ".jfr");
    Files.deleteIfExists(file);
    Path own =
        Path.of(
            AlternatingEpochs.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    ChildJvm job =
        example
            .program(checkout, Jdks.running(), AlternatingEpochs.class.getName(), own)
            // Otherwise CPU time of an ended compiler thread would count.
            .jvmArgs("-XX:-UseDynamicNumberOfCompilerThreads")
            .args("example." + example.name().toLowerCase(Locale.ROOT) + ".TrainImages")
            .args("--data", images.toString(), "--epochs", Integer.toString(epochs), "--seed", "1")
            .agent(
                checkout.agentJar(),
                "record=" + file + ",summary=off,jmx=on,metrics=prometheus:" + port);
    List<Double> turns = new ArrayList<>(); // From turn 1 on, which is epoch 2.
    double all = 0;
    double threads = 0;
    double live = 0;
    for (String line : scraped(job, port).out().lines().toList()) {
      String[] words = line.split(" ", 4);
      if (words[0].equals(AlternatingEpochs.TURN)) {
        turns.add(Double.valueOf(words[3]));
        all += Double.parseDouble(words[3]);
      } else if (words[0].equals(AlternatingEpochs.THREAD)) {
        String name = line.split(" ", 3)[2];
        double nanos = Double.parseDouble(words[1]);
        if (name.matches("coordl-(status|metrics)")) {
          live += nanos;
        } else if (name.startsWith("coordl-")) {
          threads += nanos;
        }
      }
    }
    if (!Files.exists(file) || all == 0) {
      throw new IllegalStateException(
          "The job was not observed: it printed no turn or left no " + file);
    }
    List<Double> ratios = new ArrayList<>();
    for (int first = FIRST; first + 1 < epochs; first += 2) {
      double ratio = Math.log(turns.get(first - 1) / turns.get(first));
      ratios.add(AlternatingEpochs.isOn(first) ? ratio : -ratio);
    }
    return new Cost(100 * interquartileMean(ratios), 100 * threads / all, 100 * live / all);
  }

  /** Returns the mean without the lowest and highest quarters. */
  private static double interquartileMean(List<Double> values) {
    int quarter = values.size() / 4;
    return values.stream()
        .sorted()
        .skip(quarter)
        .limit(values.size() - 2L * quarter)
        .mapToDouble(Double::doubleValue)
        .average()
        .orElseThrow();
  }

  /** Runs the job and scrapes its metrics; otherwise their cost would not show. */
  private static ChildResult scraped(ChildJvm job, int port)
      throws IOException, InterruptedException {
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
                // The job does not listen yet, or has ended.
              }
            },
            0,
            SCRAPE.toMillis(),
            TimeUnit.MILLISECONDS);
    try {
      return job.run().orFail("A run of the overhead benchmark");
    } finally {
      scraper.shutdownNow();
      if (answers.get() == 0) {
        System.out.println("  no metrics were read: their cost is not in the figures");
      }
    }
  }
}
