package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What observing costs once a job is under way: the DJL example for few and for many epochs; the
 * CPU seconds between the two are those of the epochs in the middle, without start, warm-up and
 * end. Median of the ratios of paired runs. Argument: pairs of runs (5).
 */
public final class OverheadBenchmark {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int FEW_EPOCHS = 2;
  private static final int MANY_EPOCHS = 8;

  private OverheadBenchmark() {}

  /** See the class. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    Checkout checkout = Checkout.find();
    Path agent = checkout.agentJar();
    Path work = checkout.work("overhead");
    DjlJob jobs = new DjlJob(checkout, work);
    jobs.makeImages(CLASSES, PER_CLASS);
    jobs.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    String observing = "summary=off,record=" + work.resolve("overhead.jfr");

    Pairs steady =
        Pairs.measure(
            "epochs " + (FEW_EPOCHS + 1) + " to " + MANY_EPOCHS,
            pairs,
            () -> middle(jobs, null, observing),
            () -> middle(jobs, agent, observing));
    List<Double> ratios = steady.ratios();
    TextTable table =
        new TextTable("run", "CPU s: min", "median")
            .row("no agent", number(Pairs.min(steady.without())), median(steady.without()))
            .row("observing", number(Pairs.min(steady.with())), median(steady.with()));
    System.out.printf(
        Locale.ROOT,
        "%nCPU seconds of epochs %d to %d, %d pairs of runs, alternating%n%s",
        FEW_EPOCHS + 1,
        MANY_EPOCHS,
        pairs,
        table);
    System.out.printf(
        Locale.ROOT,
        "observing costs %+.2f %% of the job's CPU time (median of paired ratios; all: %s)%n",
        100 * (Pairs.median(ratios) - 1),
        ratios.stream().map(r -> String.format(Locale.ROOT, "%.4f", r)).toList());
    System.out.println("made by: " + Commands.of(checkout, OverheadBenchmark.class, pairs));
  }

  private static double middle(DjlJob jobs, @Nullable Path agent, String agentArgs)
      throws IOException, InterruptedException {
    return cpu(jobs, agent, agentArgs, MANY_EPOCHS) - cpu(jobs, agent, agentArgs, FEW_EPOCHS);
  }

  private static double cpu(DjlJob jobs, @Nullable Path agent, String agentArgs, int epochs)
      throws IOException, InterruptedException {
    ChildJvm job = jobs.job(Jdks.running(), "overhead", epochs);
    if (agent != null) {
      job.agent(agent, agentArgs);
    }
    return job.run().orFail("A run of the overhead benchmark").cpuSeconds();
  }

  private static String median(List<Double> values) {
    return number(Pairs.median(values));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
