package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The first look: one data set, one unmodified DJL job, four runs of it (plain, observed, cached,
 * decoded), and a table that sets them side by side. Exit status 1 if their losses differ.
 */
public final class Demo {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int EPOCHS = 3;

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("demo");
  private final DjlJob jobs = new DjlJob(checkout, work);
  private final boolean traced = OpenedFiles.canTrace();

  private Demo() throws IOException, InterruptedException {}

  /** Takes no arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    try {
      System.exit(new Demo().show() ? 0 : 1);
    } catch (IllegalStateException e) {
      System.out.println("Demo: " + e.getMessage());
      System.exit(2);
    }
  }

  /** One finished run; {@code recording} and {@code summary} are absent without the agent. */
  private record Run(
      String name,
      List<Double> epochSeconds,
      double cpuSeconds,
      long opened,
      @Nullable Path recording,
      @Nullable RecordingSummary summary) {}

  private boolean show() throws IOException, InterruptedException {
    Path agent = checkout.agentJar();
    checkout.coordlJar();
    say("Step 1 of 5: a data set of " + CLASSES * PER_CLASS + " JPEG files");
    jobs.makeImages(CLASSES, PER_CLASS);
    // Unpacks the natives, which would count as the first run's time.
    jobs.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");

    say("Step 2 of 5: the DJL example as it is, " + EPOCHS + " epochs");
    Run plain = run("plain", null, "");
    say("Step 3 of 5: the same program, with -javaagent:coordl-agent.jar");
    Run observed = run("observed", agent, "");
    say("Step 4 of 5: the same program, with -javaagent:coordl-agent.jar=cache=minio");
    Run cached = run("cached", agent, ",cache=minio");

    say("Step 5 of 5: the same program, with -javaagent:coordl-agent.jar=decoded=share");
    Run decoded = run("decoded", agent, ",decoded=share");

    List<Run> runs = List.of(plain, observed, cached, decoded);
    System.out.println();
    System.out.print(table(runs));
    return conclude(runs);
  }

  private static void say(String text) {
    System.out.println();
    System.out.println(text);
  }

  private Run run(String name, @Nullable Path agent, String policies)
      throws IOException, InterruptedException {
    Path recording = work.resolve(name + ".jfr");
    Path trace = work.resolve(name + ".strace");
    Files.deleteIfExists(recording);
    ChildJvm job =
        jobs.job(Jdks.running(), name, EPOCHS).echo(line -> System.out.println("  " + line));
    if (agent != null) {
      job.agent(agent, "record=" + recording + policies);
    }
    if (traced) {
      job.wrapper(OpenedFiles.trace(trace));
    }
    ChildResult result = job.run().orFail("The run \"" + name + "\"");
    RecordingSummary summary = null;
    if (agent != null) {
      if (!Files.exists(recording)) {
        throw new IllegalStateException("The agent left no recording at " + recording + ".");
      }
      summary = RecordingSummary.read(checkout.coordlJar(), recording);
    }
    long opened = -1;
    if (traced) {
      opened = OpenedFiles.count(trace);
      Files.delete(trace);
    } else if (summary != null) {
      opened = summary.storageItems();
    }
    return new Run(
        name,
        BatchLogs.epochSeconds(jobs.log(name)),
        result.cpuSeconds(),
        opened,
        agent == null ? null : recording,
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

  /** Mean seconds of the epochs after the first, which fills the stores. */
  private static double laterEpoch(Run run) {
    return run.epochSeconds().stream().skip(1).mapToDouble(s -> s).average().orElse(Double.NaN);
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
        "  The data set is in this machine's page cache: the cache saves openings here, and time"
            + " where storage is slower.");
    Run last = runs.get(runs.size() - 1);
    System.out.println(
        "  From the second epoch on, \""
            + last.name()
            + "\" is "
            + number(1, laterEpoch(runs.get(0)) / laterEpoch(last))
            + " times as fast as \""
            + runs.get(0).name()
            + "\".");
    List<String> differences = new ArrayList<>();
    for (Run run : runs.subList(1, runs.size())) {
      Optional<String> difference =
          BatchLogs.firstDifference(jobs.log(runs.get(0).name()), jobs.log(run.name()));
      difference.ifPresent(differences::add);
    }
    System.out.println("  losses identical: " + (differences.isEmpty() ? "yes" : "no"));
    differences.forEach(difference -> System.out.println("    first difference: " + difference));
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
    return differences.isEmpty();
  }
}
