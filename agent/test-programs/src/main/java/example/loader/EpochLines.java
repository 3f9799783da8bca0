package example.loader;

import java.time.Duration;
import java.util.Locale;

/** Prints one line per epoch: {@code epoch 2: 0.512 s, 1171.9 samples/s, 1150.2 per CPU s}. */
final class EpochLines {
  private int epoch;
  private long start = System.nanoTime();
  private long startCpu = cpuNanos();

  /**
   * Prints the line of an epoch of this many samples, which began at construction or the last call.
   */
  void endEpoch(int samples) {
    long now = System.nanoTime();
    long cpu = cpuNanos();
    epoch++;
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %.3f s, %.1f samples/s, %.1f per CPU s%n",
        epoch,
        (now - start) / 1e9,
        samples / ((now - start) / 1e9),
        samples / ((cpu - startCpu) / 1e9));
    start = now;
    startCpu = cpu;
  }

  /** Returns the CPU nanoseconds of all threads, including the JVM's own. */
  private static long cpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }
}
