package io.coordl.reports.workers;

import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Wave-synchronous training of several virtual workers (HetPipe): each pushes one update for a wave
 * of minibatches, and may be at most D waves ahead of the slowest.
 */
final class Waves {
  private static final int LENGTH = 2_000;
  private static final long SEED = 1;

  private Waves() {}

  /** Minibatches that an update may miss, at most: (D + 1)(s + 1) + s - 1 with s = n - 1. */
  static int staleness(int inFlight, int distance) {
    return (distance + 1) * inFlight + inFlight - 2;
  }

  /**
   * The rate of the workers together, as a share of what the slowest one would give if none ever
   * waited: waves take times of a log-normal distribution, each worker's own.
   *
   * @param millis mean time of a wave of each worker
   * @param spread standard deviation of such a time as a share of its mean
   */
  static double efficiency(List<Double> millis, double spread, int distance) {
    RandomGenerator random = new SplittableRandom(SEED);
    double variance = Math.log1p(spread * spread);
    double[][] times = new double[millis.size()][LENGTH];
    double slowest = 0;
    for (int worker = 0; worker < times.length; worker++) {
      double sum = 0;
      for (int wave = 0; wave < LENGTH; wave++) {
        times[worker][wave] =
            millis.get(worker)
                * Math.exp(Math.sqrt(variance) * random.nextGaussian() - variance / 2);
        sum += times[worker][wave];
      }
      slowest = Math.max(slowest, sum);
    }
    return slowest / makespan(times, distance);
  }

  /**
   * When the last wave ends. A worker begins a wave once all have finished the wave D + 1 before.
   *
   * @param times of each worker and wave
   */
  static double makespan(double[][] times, int distance) {
    int waves = times[0].length;
    double[] ends = new double[times.length];
    double[] allEnded = new double[waves];
    for (int wave = 0; wave < waves; wave++) {
      double may = wave > distance ? allEnded[wave - distance - 1] : 0;
      for (int worker = 0; worker < times.length; worker++) {
        ends[worker] = Math.max(ends[worker], may) + times[worker][wave];
        allEnded[wave] = Math.max(allEnded[wave], ends[worker]);
      }
    }
    return allEnded[waves - 1];
  }
}
