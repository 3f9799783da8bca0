package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Start-up cost of the agent: CPU seconds of a program that prints one line, and of one step of the
 * DJL example, without and with the agent, on every JDK of this machine. Argument: pairs of runs
 * (10).
 */
public final class StartupBenchmark {
  private StartupBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 10;
    Checkout checkout = Checkout.find();
    Path agent = checkout.agentJar();
    Path work = checkout.work("startup");
    DjlJob jobs = new DjlJob(checkout, work);
    jobs.makeImages(2, 16);
    jobs.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    // With a recording, as in an ordinary start.
    String agentArgs = "summary=off,record=" + work.resolve("startup.jfr");

    TextTable table =
        new TextTable(
            "program", "JDK", "without: min", "median", "with: min", "median", "more (median)");
    for (Jdk jdk : Jdks.all()) {
      row(
          table,
          "hello world",
          jdk,
          Pairs.measure(
              "hello world on " + jdk.version(),
              pairs,
              () -> cpu(hello(checkout, jdk)),
              () -> cpu(hello(checkout, jdk).agent(agent, agentArgs))));
      row(
          table,
          "DJL, first step",
          jdk,
          Pairs.measure(
              "first step on " + jdk.version(),
              pairs,
              () -> cpu(firstStep(jobs, jdk)),
              () -> cpu(firstStep(jobs, jdk).agent(agent, agentArgs))));
    }
    System.out.printf(
        "%nCPU seconds of the whole process, %d pairs of runs, alternating%n%s", pairs, table);
    System.out.println("made by: " + Commands.of(checkout, StartupBenchmark.class, args));
  }

  private static ChildJvm hello(Checkout checkout, Jdk jdk) {
    return new ChildJvm(jdk, HelloWorld.class.getName()).classPath(checkout.benchmarkClasses());
  }

  private static ChildJvm firstStep(DjlJob jobs, Jdk jdk) throws IOException {
    return jobs.job(jdk, "first-step", 1).args("--loop", "hand", "--limit", "1", "--batch", "4");
  }

  private static double cpu(ChildJvm program) throws IOException, InterruptedException {
    return program.run().orFail("A run of the start-up benchmark").cpuSeconds();
  }

  private static void row(TextTable table, String program, Jdk jdk, Pairs pairs) {
    table.row(
        program,
        jdk.version(),
        seconds(Pairs.min(pairs.without())),
        seconds(Pairs.median(pairs.without())),
        seconds(Pairs.min(pairs.with())),
        seconds(Pairs.median(pairs.with())),
        seconds(Pairs.median(pairs.differences())));
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
