package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Cost of publishing a job to {@code coordl top}: CPU time of the agent's status thread in the
 * first ten seconds and afterwards. Exits with 1 if the latter is more than 0.1 % of a core.
 * Argument: seconds (60).
 */
public final class StatusBenchmark {
  private static final double MAX_SHARE = 0.001;
  private static final int START_SECONDS = 10;

  private StatusBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("status"));
    CompletableFuture<ProcessHandle> started = new CompletableFuture<>();
    CompletableFuture<long[]> measured =
        started.thenApplyAsync(process -> measure(process, seconds));
    CheckpointBenchmark.job(checkout, "DJL")
        .args("measured", work.toString(), "500", Integer.toString(seconds + START_SECONDS))
        .agent(checkout.agentJar(), "record=off")
        .started(started::complete)
        .run()
        .orFail("job");
    long[] cpu = measured.join();
    double later = (double) (cpu[1] - cpu[0]) / TimeUnit.SECONDS.toNanos(seconds - START_SECONDS);
    System.out.printf(
        Locale.ROOT,
        "%nStatus of a DJL job: %.1f ms of CPU in its first %d s, then %.3f %% of a core; on %s%n",
        cpu[0] / 1e6,
        START_SECONDS,
        100 * later,
        Jdks.running());
    System.out.println("bar: at most 0.1 % of a core: " + (later <= MAX_SHARE ? "met" : "missed"));
    System.exit(later <= MAX_SHARE ? 0 : 1);
  }

  private static long[] measure(ProcessHandle process, int seconds) {
    try {
      TimeUnit.SECONDS.sleep(START_SECONDS);
      long first = cpu(process);
      TimeUnit.SECONDS.sleep(seconds - START_SECONDS);
      return new long[] {first, cpu(process)};
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Returns the CPU nanoseconds of the status thread; the job's JVM is a descendant of {@code
   * shell}.
   */
  private static long cpu(ProcessHandle shell) throws IOException {
    for (ProcessHandle process : shell.descendants().toList()) {
      Path tasks = Path.of("/proc/" + process.pid() + "/task");
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
        for (Path thread : threads) {
          if (Files.readString(thread.resolve("comm")).strip().equals("coordl-status")) {
            String times = Files.readString(thread.resolve("schedstat"));
            return Long.parseLong(times.substring(0, times.indexOf(' ')));
          }
        }
      }
    }
    throw new IllegalStateException("the job has no thread coordl-status");
  }
}
