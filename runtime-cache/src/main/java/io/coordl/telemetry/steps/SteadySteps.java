package io.coordl.telemetry.steps;

import io.coordl.telemetry.event.Figures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Steps of a job after warm-up, during which its code is compiled and its caches fill.
 *
 * <p>A test for drift finds the warm-up. It divides the steps into {@value #GROUPS} groups, or
 * fewer if there are few steps, and compares the first group, the first two and the first quarter
 * with the last half. The steps drift if, for any of these, the mean logarithm of the groups'
 * medians lies more than {@value #MAX_ERRORS} standard errors from the median of the last half.
 * Medians are used because a rare long step is no drift. While the steps drift, a twentieth of them
 * is cut off, up to half of all. A series without drift loses 0.4 % of its steps on average, so the
 * cut hardly favours fast steps.
 *
 * @param steps the steps after warm-up
 * @param warmUp batches that were cut off
 * @param steady false if the remaining steps still drift
 */
public record SteadySteps(List<Figures> steps, long warmUp, boolean steady) {
  private static final int GROUPS = 20;
  private static final int MIN_GROUP_SIZE = 3;

  /** With fewer groups, their spread is unknown. */
  private static final int MIN_GROUPS = 6;

  private static final double MAX_ERRORS = 4;

  /** Standard deviation of a normal distribution, relative to its median absolute deviation. */
  private static final double NORMAL = 1.4826;

  /** A tenth of a percent is no drift, however regular the steps. */
  private static final double MIN_DEVIATION = 1e-3;

  /** Cuts off the warm-up, given the {@code time} of a step in nanoseconds. */
  public static SteadySteps of(List<Figures> all, ToDoubleFunction<Figures> time) {
    double[] times = all.stream().mapToDouble(time).toArray();
    for (int cut = 0; cut <= GROUPS / 2; cut++) {
      int from = (int) ((long) cut * times.length / GROUPS);
      if (!drifts(Arrays.copyOfRange(times, from, times.length))) {
        return from(all, from, true);
      }
    }
    return from(all, times.length / 2, false);
  }

  private static SteadySteps from(List<Figures> all, int from, boolean steady) {
    List<Figures> remaining = all.subList(from, all.size());
    return new SteadySteps(
        new ArrayList<>(remaining),
        all.stream().limit(from).mapToLong(one -> one.batches).sum(),
        steady);
  }

  private static boolean drifts(double[] times) {
    int groups = Math.min(GROUPS, times.length / MIN_GROUP_SIZE);
    if (groups < MIN_GROUPS) {
      return false;
    }
    double[] levels = new double[groups];
    for (int group = 0; group < groups; group++) {
      int from = (int) ((long) group * times.length / groups);
      int to = (int) ((long) (group + 1) * times.length / groups);
      levels[group] = Math.log(Math.max(1, median(Arrays.copyOfRange(times, from, to))));
    }
    double[] half = Arrays.copyOfRange(levels, groups / 2, groups);
    double level = median(half);
    double deviation =
        Math.max(
            MIN_DEVIATION,
            NORMAL * median(Arrays.stream(half).map(one -> Math.abs(one - level)).toArray()));
    // The medians of a few groups may be close by chance.
    deviation = Math.max(deviation, 0.7 * deviation(half));
    for (int first : new int[] {1, 2, Math.max(3, groups / 4)}) {
      double off = Math.abs(Arrays.stream(levels, 0, first).average().orElseThrow() - level);
      if (off > MAX_ERRORS * deviation / Math.sqrt(first)) {
        return true;
      }
    }
    return false;
  }

  private static double deviation(double[] values) {
    double mean = Arrays.stream(values).average().orElseThrow();
    double squares = Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum();
    return Math.sqrt(squares / (values.length - 1));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Returns the number of batches in the steady steps. */
  public long count() {
    return steps.stream().mapToLong(one -> one.batches).sum();
  }

  /**
   * Returns the share of time that the slowest hundredth of the steps takes, 0 to 1; 0 if there are
   * fewer than 50 steps.
   */
  public double slowestHundredth(ToDoubleFunction<Figures> time) {
    if (steps.size() < 50) {
      return 0;
    }
    double[] times = steps.stream().mapToDouble(time).sorted().toArray();
    int slowest = (times.length + 99) / 100;
    double all = Arrays.stream(times).sum();
    return all <= 0 ? 0 : Arrays.stream(times, times.length - slowest, times.length).sum() / all;
  }
}
