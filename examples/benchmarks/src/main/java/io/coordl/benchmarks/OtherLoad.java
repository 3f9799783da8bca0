package io.coordl.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** Share of the machine's cores that other programs use, from {@code /proc/stat}. */
final class OtherLoad {
  /** At or above this share of the cores, other programs distort the measured times too much. */
  static final double BUSY = 0.15;

  private static final Path STAT = Path.of("/proc/stat");
  private static final double TICKS_PER_SECOND = 100;
  private static final int IDLE = 3;
  private static final int IO_WAIT = 4;
  private static final int STEAL = 7;

  private final Path stat;
  private final double[] before;

  private OtherLoad(Path stat) throws IOException {
    this.stat = stat;
    this.before = busyAndAll(stat);
  }

  /** Returns the number of processors and the current load average. */
  static String machine() {
    return String.format(
        Locale.ROOT,
        "%d processors, load average %.1f",
        Runtime.getRuntime().availableProcessors(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** Starts measuring now. */
  static OtherLoad begin() throws IOException {
    return begin(STAT);
  }

  static OtherLoad begin(Path stat) throws IOException {
    return new OtherLoad(stat);
  }

  /**
   * Returns the share of the cores' time since the start that other programs used, 0 to 1; 0 if
   * unknown.
   *
   * @param ownSeconds CPU time that our programs used since the start
   */
  double share(double ownSeconds) throws IOException {
    double[] now = busyAndAll(stat);
    double all = now[1] - before[1];
    return all <= 0
        ? 0
        : Math.max(0, Math.min(1, (now[0] - before[0] - ownSeconds * TICKS_PER_SECOND) / all));
  }

  /** Returns busy ticks and all ticks, summed over the cores. */
  private static double[] busyAndAll(Path stat) throws IOException {
    if (!Files.exists(stat)) {
      return new double[2];
    }
    String first = Files.readAllLines(stat).get(0);
    double[] ticks =
        Stream.of(first.replaceFirst("^cpu +", "").split(" +"))
            .limit(STEAL + 1)
            .mapToDouble(Double::parseDouble)
            .toArray();
    double all = 0;
    for (double some : ticks) {
      all += some;
    }
    return new double[] {all - ticks[IDLE] - ticks[IO_WAIT], all};
  }
}
