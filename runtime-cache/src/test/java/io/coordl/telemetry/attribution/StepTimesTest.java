package io.coordl.telemetry.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Steps that take longer than the fastest tenth. */
class StepTimesTest {
  private static final long MILLI = 1_000_000;

  private static StepTimes steps(int count, double millis) {
    StepTimes times = new StepTimes();
    return add(times, count, millis);
  }

  private static StepTimes add(StepTimes times, int count, double millis) {
    for (int i = 0; i < count; i++) {
      times.add(Math.round(millis * MILLI));
    }
    return times;
  }

  private static double millis(StepTimes times) {
    return (double) times.beyondFast() / MILLI;
  }

  @Test
  void equalStepsAreAllFast() {
    assertThat(millis(steps(100, 5))).isZero();
  }

  @Test
  void disturbedStepsCountByWhatTheyTakeLonger() {
    assertThat(millis(add(steps(50, 5), 50, 9))).isEqualTo(200);
  }

  /** The last batch of an epoch may be small. */
  @Test
  void oneShortStepIsNoMeasure() {
    assertThat(millis(add(steps(9, 5), 1, 1))).isZero();
  }

  /** Only a sample of the durations is held, and no period of the steps is mistaken for it. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 5, 8})
  void manyPeriodicStepsCountToo(int period) {
    StepTimes times = steps(0, 0);
    for (int i = 0; i < 5_000; i++) {
      add(add(times, 1, 5), period - 1, 9);
    }
    int slow = 5_000 * (period - 1) * 4;
    assertThat(millis(times)).isEqualTo(slow);
  }

  @Test
  void aFewStepsShowNothing() {
    assertThat(steps(0, 1).beyondFast()).isZero();
    assertThat(add(steps(3, 5), 4, 9).beyondFast()).isZero();
  }
}
