package io.coordl.reports.differential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class MeasureTest {

  @Test
  void independentErrorsAddInQuadrature() {
    Measure sum = new Measure(10, 3).plus(new Measure(20, 4));
    Measure difference = new Measure(10, 3).minus(new Measure(20, 4));

    assertThat(sum).isEqualTo(new Measure(30, 5));
    assertThat(difference).isEqualTo(new Measure(-10, 5));
    assertThat(difference.atLeastZero()).isEqualTo(new Measure(0, 5));
    assertThat(new Measure(2, 0.1).times(-3).error()).isCloseTo(0.3, within(1e-12));
  }

  @Test
  void relativeErrorsOfAQuotientAddInQuadrature() {
    Measure quotient = Measure.of(at -> at[0] / at[1], new Measure(100, 1), new Measure(50, 1));

    assertThat(quotient.value()).isEqualTo(2);
    assertThat(quotient.error()).isCloseTo(2 * Math.hypot(0.01, 0.02), within(0.001));
    assertThat(new Measure(1e6, 1e4).perSecond()).isEqualTo(new Measure(1_000, 10));
  }

  @Test
  void aKinkWithinTheErrorCounts() {
    Measure bounded = Measure.of(at -> Math.max(at[0], 10), new Measure(10, 2));

    assertThat(bounded).isEqualTo(new Measure(10, 2));
  }

  @Test
  void theMeanHasStudentsInterval() {
    // Mean 3, deviation sqrt(2.5), 4 degrees of freedom.
    Measure mean = Measure.mean(new double[] {1, 2, 3, 4, 5});

    assertThat(mean.value()).isEqualTo(3);
    assertThat(mean.error()).isCloseTo(2.776 * Math.sqrt(2.5 / 5), within(1e-9));
    assertThatThrownBy(() -> Measure.mean(new double[] {1}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theMeansIntervalContainsTheTruthInNinetyFivePercent() {
    Random random = new Random(1);
    for (int size : new int[] {2, 5, 40}) {
      int held = 0;
      for (int i = 0; i < 4_000; i++) {
        double[] values = random.doubles(size).map(any -> 7 + random.nextGaussian()).toArray();
        Measure mean = Measure.mean(values);
        held += Math.abs(mean.value() - 7) <= mean.error() ? 1 : 0;
      }
      assertThat(held / 4_000.0).as("of %d values", size).isCloseTo(0.95, within(0.012));
    }
  }

  @Test
  void invalidFiguresAreRefused() {
    assertThatThrownBy(() -> new Measure(Double.NaN, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Measure(1, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Measure(0, 0).perSecond())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
