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

/**
 * CPU seconds of {@code coordl --help} and of {@code coordl summary} for the recording of a short
 * job, both started by the launcher, on every JDK of this machine. Exits with 1 if a median exceeds
 * its limit. Argument: runs (15).
 */
public final class CliBenchmark {
  private static final double MAX_HELP = 0.3;
  private static final double MAX_SUMMARY = 0.6;

  private CliBenchmark() {}

  /** A command line and its limit in CPU seconds. */
  private record CommandLine(double limit, List<String> words) {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int runs = args.length > 0 ? Integer.parseInt(args[0]) : 15;
    Checkout checkout = Checkout.find();
    CoordlTool coordl = new CoordlTool(checkout);
    List<CommandLine> commands =
        List.of(
            new CommandLine(MAX_HELP, List.of("--help")),
            new CommandLine(MAX_SUMMARY, List.of("summary", recording(checkout).toString())));

    TextTable table =
        new TextTable("command", "JDK", "CPU s: min", "median", "mean", "wall s: median", "limit");
    boolean met = true;
    for (Jdk jdk : Jdks.all()) {
      for (CommandLine line : commands) {
        String what = "coordl " + line.words().get(0);
        ChildJvm command = coordl.command(jdk, line.words().toArray(String[]::new));
        command.run().orFail(what); // Fills the page cache.
        List<Double> cpu = new ArrayList<>();
        List<Double> wall = new ArrayList<>();
        for (int run = 0; run < runs; run++) {
          ChildResult result = command.run().orFail(what);
          cpu.add(result.cpuSeconds());
          wall.add(result.wall().toNanos() / 1e9);
        }
        met &= Pairs.median(cpu) <= line.limit();
        Interval mean = Interval.of(cpu);
        table.row(
            what,
            jdk.version(),
            seconds(Pairs.min(cpu)),
            seconds(Pairs.median(cpu)),
            seconds(mean.mean()) + " ± " + seconds(mean.halfWidth()),
            seconds(Pairs.median(wall)),
            Double.toString(line.limit()));
      }
    }
    System.out.printf("%n%d runs of each%n%s", runs, table);
    System.out.println("made by: " + Commands.of(checkout, CliBenchmark.class, args));
    System.exit(met ? 0 : 1);
  }

  /** Returns a recording of three epochs of the DJL example. */
  private static Path recording(Checkout checkout) throws IOException, InterruptedException {
    Path work = checkout.work("cli");
    DjlJob jobs = new DjlJob(checkout, work);
    jobs.makeImages(2, 50);
    Path recording = work.resolve("job.jfr");
    jobs.job(Jdks.running(), "job", 3)
        .agent(checkout.agentJar(), "summary=off,record=" + recording)
        .run()
        .orFail("The recorded job");
    return recording;
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
