package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * Cost of observing a whole short run, from JVM start to end, including JIT compilers, recording
 * and summary: additional CPU seconds and wall time compared with the run without the agent, as the
 * mean over rounds with its 95 % interval. Also shows the cost of {@link EmptyAgent}. Arguments:
 * rounds of three runs (5), DJL or DL4J (both), feature release of the JDK (all on this machine).
 * The exit status is 1 if a mean exceeds its limit.
 */
public final class WholeRunBenchmark {
  private static final double MAX_CPU = 0.8;
  private static final double MAX_WALL = 0.4;
  private static final int CLASSES = 2;
  private static final int PER_CLASS = 100;

  /** CPU and wall seconds of a run. */
  private record Run(double cpu, double wall) {
    Run minus(Run other) {
      return new Run(cpu - other.cpu, wall - other.wall);
    }
  }

  private WholeRunBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws IOException, InterruptedException {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    if (rounds < 2) {
      throw new IllegalArgumentException("rounds is " + rounds + ", expected 2 or more.");
    }
    String only = args.length > 1 ? args[1] : "";
    int release = args.length > 2 ? Integer.parseInt(args[2]) : 0;
    Checkout checkout = Checkout.find();
    DjlJob images = new DjlJob(checkout, checkout.work("whole-run"));
    images.makeImages(CLASSES, PER_CLASS);
    TextTable table =
        new TextTable(
            "example",
            "JDK",
            "plain: CPU s",
            "wall s",
            "empty agent: CPU s",
            "wall s",
            "observed: CPU s",
            "wall s",
            "within limits");
    boolean within = true;
    for (Jdk jdk : Jdks.all()) {
      for (Example example : Example.values()) {
        boolean isRequested = release == 0 || release == jdk.feature();
        if (isRequested && (only.isEmpty() || only.equals(example.name()))) {
          within &= measure(table, checkout, example, jdk, images.images(), rounds);
        }
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%nWhole runs, alternating, %d rounds; mean difference from plain with its 95 %% interval;"
            + " the limits are %.1f s of CPU time and %.1f s of wall time%n%s",
        rounds,
        MAX_CPU,
        MAX_WALL,
        table);
    System.out.println("made by: " + Commands.of(checkout, WholeRunBenchmark.class, args));
    System.exit(within ? 0 : 1);
  }

  private static boolean measure(
      TextTable table, Checkout checkout, Example example, Jdk jdk, Path images, int rounds)
      throws IOException, InterruptedException {
    Path work = checkout.work("whole-run");
    Path empty = EmptyAgent.jar(work.resolve("empty-agent.jar"));
    String observing = "record=" + work.resolve("run.jfr");
    run(job(checkout, example, jdk, images)); // Fills the page cache and unpacks natives.
    List<Run> plain = new ArrayList<>();
    List<Run> emptyAgent = new ArrayList<>();
    List<Run> observed = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      Run[] runs = new Run[3];
      for (int i = 0; i < runs.length; i++) {
        int which = (round + i) % runs.length; // Rotates the order.
        ChildJvm job = job(checkout, example, jdk, images);
        if (which > 0) {
          job.agent(which == 1 ? empty : checkout.agentJar(), which == 1 ? "" : observing);
        }
        runs[which] = run(job);
      }
      plain.add(runs[0]);
      emptyAgent.add(runs[1].minus(runs[0]));
      observed.add(runs[2].minus(runs[0]));
      System.out.printf(
          Locale.ROOT,
          "  %s on %s, round %d of %d: CPU %.2f s plain, %.2f s with an empty agent, %.2f s"
              + " observed; wall %.2f s, %.2f s, %.2f s%n",
          example,
          jdk.version(),
          round + 1,
          rounds,
          runs[0].cpu(),
          runs[1].cpu(),
          runs[2].cpu(),
          runs[0].wall(),
          runs[1].wall(),
          runs[2].wall());
    }
    Interval cpu = interval(observed, Run::cpu);
    Interval wall = interval(observed, Run::wall);
    boolean within = cpu.mean() <= MAX_CPU && wall.mean() <= MAX_WALL;
    table.row(
        example.name(),
        jdk.version(),
        seconds(interval(plain, Run::cpu).mean()),
        seconds(interval(plain, Run::wall).mean()),
        interval(emptyAgent, Run::cpu).toString(),
        interval(emptyAgent, Run::wall).toString(),
        cpu.toString(),
        wall.toString(),
        within ? "yes" : "no");
    return within;
  }

  private static ChildJvm job(Checkout checkout, Example example, Jdk jdk, Path images)
      throws IOException {
    return example
        .program(checkout, jdk)
        .args("--data", images.toString(), "--epochs", "3", "--seed", "1");
  }

  private static Run run(ChildJvm job) throws IOException, InterruptedException {
    ChildResult result = job.run().orFail("A run of the whole-run benchmark");
    return new Run(result.cpuSeconds(), result.wall().toMillis() / 1000.0);
  }

  private static Interval interval(List<Run> runs, Function<Run, Double> what) {
    return Interval.of(runs.stream().map(what).toList());
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
