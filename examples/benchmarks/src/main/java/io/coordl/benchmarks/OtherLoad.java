package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** How much of the machine's cores other programs use, by {@code /proc/stat}. */
final class OtherLoad {
  /** From this share of the cores on, times say more about the other programs than about ours. */
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

  /** Begins now. */
  static OtherLoad begin() throws IOException {
    return begin(STAT);
  }

  static OtherLoad begin(Path stat) throws IOException {
    return new OtherLoad(stat);
  }

  /**
   * Share of the cores' time since the beginning that others used, 0 to 1; 0 if the system does not
   * tell.
   *
   * @param ownSeconds CPU time that our programs used meanwhile
   */
  double share(double ownSeconds) throws IOException {
    double[] now = busyAndAll(stat);
    double all = now[1] - before[1];
    return all <= 0
        ? 0
        : Math.max(0, Math.min(1, (now[0] - before[0] - ownSeconds * TICKS_PER_SECOND) / all));
  }

  /** Ticks of all cores that were not idle, and all ticks. */
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
