package io.coordl.telemetry.steps;

import io.coordl.telemetry.event.Figures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The steps of a job without those that warm it up: compile its code, fill its caches.
 *
 * <p>A test for drift cuts them. The steps are divided into {@value #GROUPS} groups; the first
 * group, the first two and the first quarter are held against the last half. They drift if the mean
 * logarithm of their medians lies more than {@value #TOO_FAR} standard errors from the median
 * there: medians, since a rare long step is no drift. While they drift, a twentieth of the steps is
 * cut off, up to half of all. A series without drift loses 0.4 % of its steps on average, so that
 * the cut does not choose the steps that look best.
 *
 * @param steps those that are left
 * @param warmUp how many were cut off
 * @param steady false if what is left still drifts
 */
public record SteadySteps(List<Figures> steps, long warmUp, boolean steady) {
  private static final int GROUPS = 20;
  private static final int LEAST_IN_A_GROUP = 3;

  /** Fewer tell nothing of their spread. */
  private static final int LEAST_GROUPS = 6;

  private static final double TOO_FAR = 4;

  /** Of a normal distribution, over its median absolute deviation. */
  private static final double NORMAL = 1.4826;

  /** A tenth of a percent is no drift, however regular the steps. */
  private static final double LEAST_DEVIATION = 1e-3;

  /** By the time of one step, as it is to be compared. */
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
    List<Figures> left = all.subList(from, all.size());
    return new SteadySteps(
        new ArrayList<>(left),
        all.stream().limit(from).mapToLong(one -> one.batches).sum(),
        steady);
  }

  private static boolean drifts(double[] times) {
    int groups = Math.min(GROUPS, times.length / LEAST_IN_A_GROUP);
    if (groups < LEAST_GROUPS) {
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
            LEAST_DEVIATION,
            NORMAL * median(Arrays.stream(half).map(one -> Math.abs(one - level)).toArray()));
    // Few groups may lie close together by chance.
    deviation = Math.max(deviation, 0.7 * deviation(half));
    for (int first : new int[] {1, 2, Math.max(3, groups / 4)}) {
      double off = Math.abs(Arrays.stream(levels, 0, first).average().orElseThrow() - level);
      if (off > TOO_FAR * deviation / Math.sqrt(first)) {
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

  /** How many batches were trained on. */
  public long count() {
    return steps.stream().mapToLong(one -> one.batches).sum();
  }

  /**
   * The part of the time that the slowest hundredth of the steps takes, 0 to 1; 0 where there are
   * too few to tell.
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
