package io.coordl.benchmarks;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import io.coordl.harness.OpenedFiles;
import io.coordl.harness.RecordingSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Demonstrates the agent: runs an unmodified DJL job on one data set (plain, observed, cached,
 * decoded, prefetched), then two jobs of a smaller network at the same time (separate,
 * coordinated), and prints a table. Exit status 1 if the losses of the single runs differ, or the
 * two jobs got wrong batches.
 */
public final class Demo {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int EPOCHS = 3;

  /** Two jobs run longer, because at first both JIT compilers share the cores. */
  private static final int PAIR_EPOCHS = 6;

  private static final int PAIR_WARM_UP = 3;

  /** A small network, so that data dominate. */
  private static final String[] PAIR_NETWORK = {"--size", "24", "--layers", "8"};

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("demo");
  private final DjlJob jobs = new DjlJob(checkout, work);
  private final boolean traced = OpenedFiles.canTrace();

  /** Whether other programs used the cores during a run, so its times mean little. */
  private boolean busy;

  private Demo() throws IOException, InterruptedException {}

  /** Runs the demo; takes no arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    try {
      System.exit(new Demo().show() ? 0 : 1);
    } catch (IllegalStateException e) {
      System.out.println("Demo: " + e.getMessage());
      System.exit(2);
    }
  }

  /**
   * A step of the demo: one concurrent job per name, without the agent if {@code policies} is null.
   */
  private record Plan(String title, @Nullable String policies, List<String> names) {}

  /**
   * One finished job; {@code opened} is -1 if unknown, and {@code recording} and {@code summary}
   * are null without the agent.
   */
  private record Run(
      String name,
      List<Double> epochSeconds,
      double cpuSeconds,
      long opened,
      @Nullable Path recording,
      @Nullable RecordingSummary summary) {}

  private List<Plan> plans() throws IOException, InterruptedException {
    AgentHelp help = AgentHelp.of(checkout);
    String group = ",group=demo-" + ProcessHandle.current().pid();
    List<Plan> plans = new ArrayList<>();
    plans.add(new Plan("the DJL example without the agent", null, List.of("plain")));
    plans.add(new Plan("the same program, observed", "", List.of("observed")));
    plans.add(new Plan("raw files cached in memory", "cache=minio", List.of("cached")));
    plans.add(new Plan("decoded images cached in memory", "decoded=share", List.of("decoded")));
    if (help.has("prefetch")) {
      plans.add(
          new Plan(
              "the same, with batches prepared ahead",
              "decoded=share,prefetch=2",
              List.of("prefetched")));
    }
    if (help.has("prep")) {
      plans.add(
          new Plan(
              "two jobs of a smaller network at the same time, without the agent",
              null,
              List.of("two: a", "two: b")));
      plans.add(
          new Plan(
              "the same two jobs, with each batch prepared once for both",
              "prep=coordinate,prep.jobs=2" + group,
              List.of("shared: a", "shared: b")));
    }
    return plans;
  }

  private boolean show() throws IOException, InterruptedException {
    checkout.coordlJar();
    List<Plan> plans = plans();
    print("Step 1 of " + (plans.size() + 1) + ": a data set of " + CLASSES * PER_CLASS + " files");
    jobs.makeImages(CLASSES, PER_CLASS);
    // Unpacks the natives, which would slow down the first run.
    jobs.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    List<Run> runs = new ArrayList<>();
    for (Plan plan : plans) {
      int step = plans.indexOf(plan) + 2;
      print("Step " + step + " of " + (plans.size() + 1) + ": " + plan.title());
      if (plan.policies() != null) {
        System.out.println(
            "  -javaagent:coordl-agent.jar"
                + (plan.policies().isEmpty() ? "" : "=" + plan.policies()));
      }
      runs.addAll(run(plan));
    }
    System.out.println();
    System.out.print(table(runs));
    return conclude(runs);
  }

  private static void print(String text) {
    System.out.println();
    System.out.println(text);
  }

  private List<Run> run(Plan plan) throws IOException, InterruptedException {
    List<ChildJvm> children = new ArrayList<>();
    for (String name : plan.names()) {
      Files.deleteIfExists(recording(name));
      boolean pair = plan.names().size() > 1;
      ChildJvm job = jobs.job(Jdks.running(), file(name), pair ? PAIR_EPOCHS : EPOCHS);
      if (pair) {
        job.args(PAIR_NETWORK);
      }
      if (plan.policies() != null) {
        job.agent(checkout.agentJar(), arguments(name, plan.policies()));
      }
      if (traced) {
        job.wrapper(OpenedFiles.trace(trace(name)));
      }
      children.add(job);
    }
    OtherLoad others = OtherLoad.begin();
    List<ChildResult> results =
        ConcurrentJobs.run(plan.title(), children, line -> System.out.println("  " + line))
            .results();
    double share = others.share(results.stream().mapToDouble(ChildResult::cpuSeconds).sum());
    if (share >= OtherLoad.BUSY) {
      System.out.println(
          "  Other programs used "
              + number(0, 100 * share)
              + " % of the cores during this run: its times mean little.");
      busy = true;
    }
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < children.size(); i++) {
      runs.add(finished(plan, plan.names().get(i), results.get(i)));
    }
    return runs;
  }

  private String arguments(String name, String policies) {
    List<String> arguments = new ArrayList<>(List.of("record=" + recording(name)));
    if (!name.equals("observed") && !name.equals("shared: a")) {
      // One summary of each kind is enough.
      arguments.add("summary=off");
    }
    if (!policies.isEmpty()) {
      arguments.add(policies);
    }
    return String.join(",", arguments);
  }

  private static String file(String name) {
    return name.replace(": ", "-");
  }

  private Path recording(String name) {
    return work.resolve(file(name) + ".jfr");
  }

  private Path trace(String name) {
    return work.resolve(file(name) + ".strace");
  }

  private Run finished(Plan plan, String name, ChildResult result)
      throws IOException, InterruptedException {
    boolean agent = plan.policies() != null;
    RecordingSummary summary = null;
    if (agent) {
      if (!Files.exists(recording(name))) {
        throw new IllegalStateException("The agent left no recording " + recording(name) + ".");
      }
      summary = RecordingSummary.read(checkout.coordlJar(), recording(name));
    }
    long opened = -1;
    if (traced) {
      opened = OpenedFiles.count(trace(name));
      Files.delete(trace(name));
    } else if (summary != null) {
      opened = summary.storageItems();
    }
    return new Run(
        name,
        BatchLogs.epochSeconds(jobs.log(file(name))),
        result.cpuSeconds(),
        opened,
        agent ? recording(name) : null,
        summary);
  }

  private static TextTable table(List<Run> runs) {
    TextTable table =
        new TextTable(
            "run",
            "epochs s",
            "stall s",
            "stall %",
            "fetch s",
            "prep s",
            "GC s",
            "hits",
            "files opened",
            "CPU s");
    for (Run run : runs) {
      RecordingSummary summary = run.summary();
      table.row(
          run.name(),
          run.epochSeconds().stream().map(s -> number(1, s)).collect(Collectors.joining(" ")),
          summary == null ? "-" : seconds(summary.stall()),
          summary == null ? "-" : number(0, 100.0 * summary.stall() / summary.wall()),
          summary == null ? "-" : seconds(summary.fetchStall()),
          summary == null ? "-" : seconds(summary.prepStall()),
          summary == null ? "-" : seconds(summary.gcStall()),
          summary == null ? "-" : Long.toString(summary.hits()),
          run.opened() < 0 ? "-" : Long.toString(run.opened()),
          number(1, run.cpuSeconds()));
    }
    return table;
  }

  /**
   * Returns the mean seconds of the epochs after the first {@code skipped}; the first epoch fills
   * the stores.
   */
  private static double laterEpoch(Run run, int skipped) {
    return run.epochSeconds().stream()
        .skip(skipped)
        .mapToDouble(s -> s)
        .average()
        .orElse(Double.NaN);
  }

  private static String seconds(long nanos) {
    return number(2, nanos / 1e9);
  }

  private static String number(int digits, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  private boolean conclude(List<Run> runs) throws IOException {
    System.out.println();
    System.out.println(
        traced
            ? "  Files opened: data-set files, all epochs, counted outside the JVM by strace."
            : "  Files opened: data-set files, all epochs, counted by the agent (strace is not"
                + " installed or not allowed here).");
    System.out.println(
        "  The data set is in this machine's page cache: here the agent's cache saves file opens;"
            + " with slower storage it also saves time.");
    List<Path> recordings = new ArrayList<>();
    for (Run run : runs) {
      if (run.recording() != null) {
        recordings.add(run.recording());
        System.out.println("  recording of \"" + run.name() + "\": " + run.recording());
      }
    }
    System.out.println(
        "  read one with: java -jar "
            + checkout.coordlJar()
            + " summary "
            + recordings.get(recordings.size() - 1));
    System.out.println();
    List<Run> single = runs.stream().filter(run -> !run.name().contains(":")).toList();
    Run last = single.get(single.size() - 1);
    System.out.println(
        busy
            ? "  The machine was busy with other programs, so nothing is concluded from the times;"
                + " run this again when it is idle."
            : "  From the second epoch on, \""
                + last.name()
                + "\" is "
                + number(1, laterEpoch(single.get(0), 1) / laterEpoch(last, 1))
                + "x as fast as \"plain\".");
    boolean same = sameLosses(single);
    List<Run> two = runs.stream().filter(run -> run.name().startsWith("two:")).toList();
    List<Run> shared = runs.stream().filter(run -> run.name().startsWith("shared:")).toList();
    if (!shared.isEmpty()) {
      if (!busy) {
        System.out.println(
            "  From epoch "
                + (PAIR_WARM_UP + 1)
                + " on, the two coordinated jobs are "
                + number(1, laterEpochs(two) / laterEpochs(shared))
                + "x as fast as two separate jobs.");
      }
      same &= sharedCorrectly(shared);
    }
    System.out.println();
    return same;
  }

  private static double laterEpochs(List<Run> runs) {
    return runs.stream()
        .mapToDouble(run -> laterEpoch(run, PAIR_WARM_UP))
        .average()
        .orElse(Double.NaN);
  }

  private boolean sameLosses(List<Run> runs) throws IOException {
    List<String> differences = new ArrayList<>();
    for (Run run : runs.subList(1, runs.size())) {
      BatchLogs.firstDifference(jobs.log(runs.get(0).name()), jobs.log(run.name()))
          .ifPresent(differences::add);
    }
    System.out.println("  losses identical: " + (differences.isEmpty() ? "yes" : "no"));
    differences.forEach(difference -> System.out.println("    first difference: " + difference));
    return differences.isEmpty();
  }

  /**
   * Checks that each job got every index once per epoch. Coordinated jobs share order and crops, so
   * their losses differ from a plain run's. On a very busy machine a job may prepare a late batch
   * itself; that is no error.
   */
  private boolean sharedCorrectly(List<Run> runs) throws IOException {
    List<String> errors = new ArrayList<>();
    Path first = jobs.log(file(runs.get(0).name()));
    long all = BatchLogs.batches(first);
    long same = all;
    for (Run run : runs) {
      Path log = jobs.log(file(run.name()));
      BatchLogs.notOncePerEpoch(log, CLASSES * PER_CLASS, PAIR_EPOCHS).ifPresent(errors::add);
      same = Math.min(same, BatchLogs.sameBatches(first, log));
    }
    System.out.println(
        "  every index once per epoch in each job"
            + (errors.isEmpty() ? "; " : ": no; ")
            + "same batches in both: "
            + (same == all ? "yes" : same + " of " + all));
    errors.forEach(error -> System.out.println("    " + error));
    return errors.isEmpty();
  }
}
