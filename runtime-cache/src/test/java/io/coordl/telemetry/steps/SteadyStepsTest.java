package io.coordl.telemetry.steps;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.Figures;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SteadyStepsTest {
  private static double time(Figures step) {
    return step.wall;
  }

  private static SteadySteps of(double... times) {
    return SteadySteps.of(Series.figures(times), SteadyStepsTest::time);
  }

  @ParameterizedTest
  @EnumSource(Series.class)
  void steadySeriesLoseFewSteps(Series series) {
    long cut = 0;
    for (int seed = 0; seed < 100; seed++) {
      SteadySteps steady = of(series.times(300, new Random(seed)));
      assertThat(steady.count() + steady.warmUp()).isEqualTo(300);
      cut += steady.warmUp();
    }
    assertThat(cut).isLessThan(100 * 300 * 2 / 100);
  }

  /** The first steps run interpreted code; the very first takes four times as long as the last. */
  @Test
  void stepsThatStillBecomeFasterAreExcluded() {
    double[] times = Series.INDEPENDENT.times(400, new Random(1));
    for (int i = 0; i < times.length; i++) {
      times[i] *= 1 + 3 * Math.exp(-i / 15.0);
    }

    SteadySteps steady = of(times);

    assertThat(steady.warmUp()).isBetween(20L, 80L);
    assertThat(steady.steady()).isTrue();
  }

  @Test
  void aFirstEpochThatFillsTheCacheIsCut() {
    double[] times = Series.CORRELATED.times(300, new Random(2));
    for (int i = 0; i < 100; i++) {
      times[i] *= 2.5;
    }

    assertThat(of(times).warmUp()).isBetween(90L, 120L);
  }

  @Test
  void aFewLongStepsAreNotMistakenForWarmUp() {
    double[] times = Series.INDEPENDENT.times(200, new Random(3));
    times[0] = 100;
    times[1] = 100;

    SteadySteps steady = of(times);

    assertThat(steady.warmUp()).isZero();
    assertThat(steady.slowestHundredth(SteadyStepsTest::time)).isBetween(0.45, 0.55);
    assertThat(of(new double[49]).slowestHundredth(SteadyStepsTest::time)).isZero();
  }

  @Test
  void stepsThatKeepBecomingSlowerAreNeverSteady() {
    double[] times = new double[200];
    for (int i = 0; i < times.length; i++) {
      times[i] = 1 + 0.1 * i;
    }

    SteadySteps steady = of(times);

    assertThat(steady.steady()).isFalse();
    assertThat(steady.warmUp()).isEqualTo(100);
  }

  @Test
  void tooFewStepsShowNoWarmUp() {
    assertThat(of(9, 1, 1, 1, 1, 1, 1, 1, 1, 1).warmUp()).isZero();
    assertThat(of().count()).isZero();
  }
}
