package io.coordl.profile;

import io.coordl.telemetry.advice.Student;
import java.util.Arrays;
import java.util.List;

/**
 * The mean time of a sample over some steps, with its confidence interval.
 *
 * <p>Successive steps are not independent, so the 95 % confidence interval is computed from the
 * means of up to 20 batches of steps (B. W. Schmeiser, Batch size effects in the analysis of
 * simulation output, Operations Research 30(3), 1982, recommends 10 to 30 batches).
 *
 * <p>Among ten or more steps, a step more than {@link #OUTLIER_FACTOR} times as long as any other
 * is ignored: the machine, not the job, caused it, and it would dominate the mean. The step is kept
 * if garbage collection accounts for most of it. Two long steps are kept, because the job probably
 * caused them.
 *
 * @param nanos mean time of a sample in nanoseconds
 * @param error half width of its 95 % confidence interval
 * @param outlier duration of the ignored step in nanoseconds, 0 if there is none
 */
record Estimate(double nanos, double error, long outlier) {
  private static final int MAX_BATCHES = 20;
  private static final int MIN_BATCHES = 5;
  private static final int OUTLIER_FACTOR = 3;

  /** Returns the estimate from at least two steps. */
  static Estimate of(List<Step> steps) {
    int outlier = findOutlier(steps);
    int count = steps.size() - (outlier < 0 ? 0 : 1);
    int batches = Math.max(2, Math.min(MAX_BATCHES, Math.max(MIN_BATCHES, count / 4)));
    batches = Math.min(batches, count);
    double[] nanos = new double[batches];
    double[] samples = new double[batches];
    int at = 0;
    for (int i = 0; i < steps.size(); i++) {
      if (i != outlier) {
        int batch = (int) ((long) at++ * batches / count);
        nanos[batch] += steps.get(i).nanos();
        samples[batch] += steps.get(i).samples();
      }
    }
    double mean = Arrays.stream(nanos).sum() / Arrays.stream(samples).sum();
    double squares = 0;
    for (int b = 0; b < batches; b++) {
      double deviation = nanos[b] / samples[b] - mean;
      squares += deviation * deviation;
    }
    double error =
        batches < 2
            ? Double.POSITIVE_INFINITY
            : Student.t(batches - 1) * Math.sqrt(squares / (batches - 1) / batches);
    return new Estimate(mean, error, outlier < 0 ? 0 : steps.get(outlier).nanos());
  }

  private static int findOutlier(List<Step> steps) {
    int longest = -1;
    long second = 0;
    for (int i = 0; i < steps.size(); i++) {
      long nanos = steps.get(i).nanos();
      if (longest < 0 || nanos > steps.get(longest).nanos()) {
        second = longest < 0 ? 0 : steps.get(longest).nanos();
        longest = i;
      } else {
        second = Math.max(second, nanos);
      }
    }
    if (steps.size() < 10 || steps.get(longest).nanos() <= OUTLIER_FACTOR * second) {
      return -1;
    }
    Step step = steps.get(longest);
    return step.work().gcStall > step.nanos() / 2 ? -1 : longest;
  }

  double relativeError() {
    return nanos <= 0 ? 0 : error / nanos;
  }
}
