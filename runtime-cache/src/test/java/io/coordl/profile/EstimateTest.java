package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

/** The mean time per sample and its confidence interval. */
class EstimateTest {
  private static List<Step> steps(int count, int samples, IntToLongFunction nanos) {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      steps.add(new Step(samples, nanos.applyAsLong(i), new PhaseEvent()));
    }
    return steps;
  }

  @Test
  void equalStepsHaveNoError() {
    Estimate estimate = Estimate.of(steps(40, 8, i -> 8_000));

    assertThat(estimate.nanos()).isEqualTo(1_000);
    assertThat(estimate.error()).isZero();
    assertThat(estimate.outlier()).isZero();
  }

  @Test
  void theMeanIsOverSamplesNotOverSteps() {
    List<Step> steps = new ArrayList<>(steps(20, 10, i -> 1_000));
    steps.addAll(steps(20, 1, i -> 1_000));

    assertThat(Estimate.of(steps).nanos()).isCloseTo(40_000.0 / 220, within(1e-9));
  }

  @Test
  void theConfidenceIntervalHas95PercentCoverage() {
    Random random = new Random(1);
    int held = 0;
    for (int run = 0; run < 1_000; run++) {
      Estimate estimate =
          Estimate.of(steps(100, 1, i -> Math.round(1e6 + 1e5 * random.nextGaussian())));
      held += Math.abs(estimate.nanos() - 1e6) <= estimate.error() ? 1 : 0;
    }

    assertThat(held).isBetween(930, 970);
  }

  @Test
  void aSingleOutlierIsExcludedAndReported() {
    Estimate estimate = Estimate.of(steps(100, 1, i -> i == 50 ? 1_000_000 : 1_000));

    assertThat(estimate.nanos()).isEqualTo(1_000);
    assertThat(estimate.outlier()).isEqualTo(1_000_000);
  }

  @Test
  void aRepeatedSlowStepIsNotAnOutlier() {
    Estimate estimate = Estimate.of(steps(100, 1, i -> i % 50 == 20 ? 1_000_000 : 1_000));

    assertThat(estimate.nanos()).isCloseTo(20_980, within(1.0));
    assertThat(estimate.outlier()).isZero();
  }

  @Test
  void aGarbageCollectionIsNotAnOutlier() {
    List<Step> steps = new ArrayList<>(steps(50, 1, i -> 1_000));
    PhaseEvent collecting = new PhaseEvent();
    collecting.gcStall = 900_000;
    steps.add(new Step(1, 1_000_000, collecting));

    assertThat(Estimate.of(steps).outlier()).isZero();
  }
}
