package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * What observing costs once a job is under way: the DJL and the DL4J example; the CPU seconds of
 * the epochs after the first two, without start, warm-up and end. Median of the ratios of paired
 * runs. Arguments: pairs of runs (7), DJL or DL4J (both).
 */
public final class OverheadBenchmark {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int WARM_UP_EPOCHS = 5;
  private static final int EPOCHS = 13;

  private interface Job {
    ChildJvm make() throws IOException;
  }

  private OverheadBenchmark() {}

  /** See the class. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 7;
    String only = args.length > 1 ? args[1] : "";
    Checkout checkout = Checkout.find();
    Path work = checkout.work("overhead");
    DjlJob djl = new DjlJob(checkout, work);
    djl.makeImages(CLASSES, PER_CLASS);
    TextTable table =
        new TextTable(
            "example", "no agent: min", "median", "observing: min", "median", "more % (median)");
    if (!only.equals("DL4J")) {
      djl.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
      row(table, checkout, "DJL", pairs, () -> djl.job(Jdks.running(), "overhead", EPOCHS));
    }
    if (!only.equals("DJL")) {
      row(table, checkout, "DL4J", pairs, () -> dl4j(checkout, djl.images()));
    }
    System.out.printf(
        Locale.ROOT,
        "%nCPU seconds of epochs %d to %d without JIT compilation, %d pairs of runs,"
            + " alternating%n%s",
        WARM_UP_EPOCHS + 1,
        EPOCHS,
        pairs,
        table);
    System.out.println("made by: " + Commands.of(checkout, OverheadBenchmark.class, pairs));
  }

  private static void row(TextTable table, Checkout checkout, String name, int pairs, Job job)
      throws IOException, InterruptedException {
    Path recording = checkout.work("overhead").resolve(name + ".jfr");
    String observing = "summary=off,record=" + recording;
    Pairs steady =
        Pairs.measure(
            name,
            pairs,
            () -> steadyCpu(job.make()),
            () -> steadyCpu(job.make().agent(checkout.agentJar(), observing)));
    List<Double> ratios = steady.ratios();
    System.out.println(
        "  all ratios: "
            + ratios.stream().map(r -> String.format(Locale.ROOT, "%.4f", r)).toList());
    table.row(
        name,
        number(Pairs.min(steady.without())),
        number(Pairs.median(steady.without())),
        number(Pairs.min(steady.with())),
        number(Pairs.median(steady.with())),
        String.format(Locale.ROOT, "%+.2f", 100 * (Pairs.median(ratios) - 1)));
  }

  private static ChildJvm dl4j(Checkout checkout, Path images) throws IOException {
    return dl4jProgram(checkout, "example.dl4j.TrainImages")
        .args("--data", images.toString(), "--epochs", Integer.toString(EPOCHS), "--seed", "1");
  }

  /** A program with DL4J on its class path. */
  static ChildJvm dl4jProgram(Checkout checkout, String mainClass) throws IOException {
    ChildJvm program =
        new ChildJvm(Jdks.running(), mainClass)
            .classPath(checkout.exampleJar("dl4j-image"))
            .classPathFile(checkout.exampleClassPath("dl4j-image"))
            .jvmArgs("-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
            .environment("OMP_NUM_THREADS", "1");
    return Jdks.running().feature() >= 24
        ? program.jvmArgs("--enable-native-access=ALL-UNNAMED")
        : program;
  }

  private static double steadyCpu(ChildJvm job) throws IOException, InterruptedException {
    EpochCpu epochs = new EpochCpu();
    job.echo(epochs).run().orFail("A run of the overhead benchmark");
    return epochs.seconds(WARM_UP_EPOCHS, EPOCHS);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
