package example.loader;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A loop whose step waits and uses no core, as with a fast accelerator. Prints one line per epoch.
 */
final class Feed {
  /** Indexes into /proc/self/stat after the name: page faults, user and system time in ticks. */
  private static final int FAULTS = 7;

  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final double TICK_MILLIS = 10;

  private final long stepNanos;
  private int epoch;

  /** Minor page faults and CPU time of the process since its start. */
  private record Used(long faults, double cpuMillis) {
    static Used now() throws IOException {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long ticks = Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]);
      return new Used(Long.parseLong(fields[FAULTS]), ticks * TICK_MILLIS);
    }
  }

  Feed(String stepMillis) {
    stepNanos = Math.round(Double.parseDouble(stepMillis) * 1e6);
  }

  /**
   * Runs an epoch. Prints {@code epoch 2: 9 batches, 12.34 ms waited for each, 38.2 % of the time;
   * 43.1 ms of CPU and 1234 page faults for each}.
   *
   * @param release called after the step of each batch
   */
  <B> void run(Iterator<? extends B> batches, Consumer<B> release) throws IOException {
    Used before = Used.now();
    long waited = 0;
    long start = System.nanoTime();
    int count = 0;
    for (long requested = start; batches.hasNext(); requested = System.nanoTime()) {
      B batch = batches.next();
      long received = System.nanoTime();
      waited += received - requested;
      count++;
      for (long left = stepNanos; left > 0; left = received + stepNanos - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      release.accept(batch);
    }
    double share = 100.0 * waited / (System.nanoTime() - start);
    Used after = Used.now();
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %d batches, %.2f ms waited for each, %.1f %% of the time; %.1f ms of CPU and %d"
            + " page faults for each%n",
        ++epoch,
        count,
        waited / 1e6 / count,
        share,
        (after.cpuMillis() - before.cpuMillis()) / count,
        (after.faults() - before.faults()) / count);
  }
}
