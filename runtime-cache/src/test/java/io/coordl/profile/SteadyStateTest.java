package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A warm-up is detected, and so is a series that has not settled. */
class SteadyStateTest {
  private static double[] series(int length, java.util.function.IntToDoubleFunction value) {
    return IntStream.range(0, length).mapToDouble(value).toArray();
  }

  @Test
  void aSlowStartIsExcluded() {
    Random random = new Random(1);
    double[] values = series(200, i -> (i < 40 ? 30 : 10) + random.nextGaussian());

    assertThat(SteadyState.begin(values)).isBetween(40, 100);
  }

  @Test
  void aSeriesThatIsSteadyFromTheStartRetainsMostValues() {
    Random random = new Random(2);
    double[] values = series(200, i -> 10 + random.nextGaussian());

    assertThat(SteadyState.begin(values)).isBetween(0, 60);
  }

  @Test
  void aSeriesThatStillFallsIsNotSteady() {
    assertThat(SteadyState.begin(series(100, i -> 100.0 - i))).isEqualTo(-1);
  }

  @Test
  void aStepChangeInTheSecondHalfIsNotSteady() {
    Random random = new Random(3);
    double[] values = series(100, i -> (i < 70 ? 10 : 5) + 0.1 * random.nextGaussian());

    assertThat(SteadyState.begin(values)).isEqualTo(-1);
  }

  @Test
  void aFewValuesAreNotEnough() {
    assertThat(SteadyState.begin(new double[] {1, 1, 1, 1, 1, 1})).isEqualTo(-1);
  }

  @Test
  void constantsAreSteadyFromTheFirst() {
    assertThat(SteadyState.begin(series(50, i -> 3))).isZero();
  }
}
