package io.coordl.telemetry.steps;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Realistic times of steps; each series has a long-run mean of a millisecond. */
public enum Series {
  INDEPENDENT {
    @Override
    double[] times(int count, Random random) {
      return correlated(count, 0, random);
    }
  },
  CORRELATED {
    @Override
    double[] times(int count, Random random) {
      return correlated(count, 0.5, random);
    }
  },
  SLOWLY_CHANGING {
    @Override
    double[] times(int count, Random random) {
      return correlated(count, 0.8, random);
    }
  },
  /** On average, two of a hundred steps take ten times as long. */
  WITH_PAUSES {
    @Override
    double[] times(int count, Random random) {
      double[] times = new double[count];
      for (int i = 0; i < count; i++) {
        boolean pause = random.nextDouble() < 0.02;
        times[i] = Math.exp(0.1 * random.nextGaussian() - 0.005) * (pause ? 10 : 1) / 1.18;
      }
      return times;
    }
  },
  /** Pareto's distribution with an exponent of 2.5: the longest steps are rare and very long. */
  HEAVY_TAILED {
    @Override
    double[] times(int count, Random random) {
      double[] times = new double[count];
      for (int i = 0; i < count; i++) {
        times[i] = Math.pow(1 - random.nextDouble(), -1 / 2.5) * 1.5 / 2.5;
      }
      return times;
    }
  };

  abstract double[] times(int count, Random random);

  /** Times whose logarithms are first-order autoregressive, with a standard deviation of 0.3. */
  private static double[] correlated(int count, double correlation, Random random) {
    double[] times = new double[count];
    double state = random.nextGaussian();
    for (int i = 0; i < count; i++) {
      times[i] = Math.exp(0.3 * state - 0.045);
      state =
          correlation * state + Math.sqrt(1 - correlation * correlation) * random.nextGaussian();
    }
    return times;
  }

  /** Steps as in a recording, each of one batch of 32 samples. */
  public static List<Figures> figures(double... millis) {
    return Arrays.stream(millis)
        .mapToObj(
            each -> {
              Figures step = new EpochEvent();
              step.batches = 1;
              step.samples = 32;
              step.wall = Math.round(each * 1e6);
              return step;
            })
        .toList();
  }
}
