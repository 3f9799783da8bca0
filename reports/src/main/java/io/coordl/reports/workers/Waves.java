package io.coordl.reports.workers;

import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Wave-synchronous training of several virtual workers (HetPipe): each pushes one update per wave
 * of minibatches and may be at most D waves (the distance) ahead of the slowest.
 */
final class Waves {
  private static final int SIMULATED_WAVES = 2_000;
  private static final long SEED = 1;

  private Waves() {}

  /**
   * Returns the largest number of minibatches that an update may miss: (D + 1)(s + 1) + s - 1, with
   * s = n - 1 for n minibatches in flight and the distance D.
   */
  static int staleness(int inFlight, int distance) {
    return (distance + 1) * inFlight + inFlight - 2;
  }

  /**
   * Returns the rate of the workers, as a share of the slowest worker's rate without waits. The
   * times of each worker's waves follow its own log-normal distribution.
   *
   * @param millis each worker's mean time of a wave
   * @param spread standard deviation of these times as a share of the mean
   */
  static double efficiency(List<Double> millis, double spread, int distance) {
    RandomGenerator random = new SplittableRandom(SEED);
    double variance = Math.log1p(spread * spread);
    double[][] times = new double[millis.size()][SIMULATED_WAVES];
    double slowest = 0;
    for (int worker = 0; worker < times.length; worker++) {
      double sum = 0;
      for (int wave = 0; wave < SIMULATED_WAVES; wave++) {
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
   * Returns the end of the last wave. A worker starts a wave once all workers have finished the one
   * that comes D + 1 waves earlier.
   *
   * @param times time of each wave, by worker
   */
  static double makespan(double[][] times, int distance) {
    int waves = times[0].length;
    double[] ends = new double[times.length];
    double[] allEnded = new double[waves];
    for (int wave = 0; wave < waves; wave++) {
      double earliestStart = wave > distance ? allEnded[wave - distance - 1] : 0;
      for (int worker = 0; worker < times.length; worker++) {
        ends[worker] = Math.max(ends[worker], earliestStart) + times[worker][wave];
        allEnded[wave] = Math.max(allEnded[wave], ends[worker]);
      }
    }
    return allEnded[waves - 1];
  }
}
