package io.coordl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The cadence of a simulated job; the clock is the test's. */
class CadenceTest {
  private static final long MS = 1_000_000;

  /** After this many steps of 10 ms, the first checkpoint's assumed cost is 3.5 % of the time. */
  private static final int FIRST = 1000;

  private long now;
  private long lost;
  private int checkpoints;

  /** Trains some steps; each checkpoint blocks, then slows the steps while it is written. */
  private void train(
      Cadence cadence, int steps, long step, long blocked, int writing, double slower) {
    int left = 0;
    for (int i = 0; i < steps; i++) {
      boolean busy = left > 0;
      long took = busy ? Math.round(step * slower) : step;
      left--;
      cadence.step(took, busy);
      now += took;
      lost += took - step;
      if (cadence.isDue() && left <= 0) {
        cadence.taken(blocked);
        now += blocked;
        lost += blocked;
        checkpoints++;
        left = writing;
      }
    }
  }

  private double overhead() {
    return lost / (double) (now - lost);
  }

  private void forget() {
    now = 0;
    lost = 0;
    checkpoints = 0;
  }

  @Test
  void aFixedNumberOfStepsIsKept() {
    Cadence cadence = Cadence.every(7);
    train(cadence, 70, MS, 5 * MS, 0, 1);
    assertThat(checkpoints).isEqualTo(10);
    assertThat(cadence.interval()).isEqualTo(7);
  }

  @Test
  void blockingTimeStaysWithinTheShare() {
    Cadence cadence = Cadence.within(() -> 0.035);
    // 35 ms of each second: one checkpoint in 100 steps.
    train(cadence, FIRST + 200, 10 * MS, 35 * MS, 0, 1);
    assertThat(cadence.interval()).isEqualTo(100);
    forget();
    train(cadence, 100_000, 10 * MS, 35 * MS, 0, 1);
    assertThat(checkpoints).isBetween(999, 1001);
    assertThat(overhead()).isCloseTo(0.035, within(0.001));
  }

  @Test
  void slowerStepsDuringAWriteCount() {
    Cadence cadence = Cadence.within(() -> 0.035);
    // A checkpoint costs 5 ms and slows 20 steps by 5 ms each: 105 ms, 3.5 % of 300 steps.
    train(cadence, FIRST + 2000, 10 * MS, 5 * MS, 20, 1.5);
    assertThat(cadence.interval()).isEqualTo(300);
    forget();
    train(cadence, 100_000, 10 * MS, 5 * MS, 20, 1.5);
    assertThat(overhead()).isCloseTo(0.035, within(0.001));
  }

  /**
   * During a write, every fourth step takes twice as long, which a median hides. A checkpoint costs
   * 5 ms plus 5 times 10 ms.
   */
  @Test
  void aFewMuchSlowerStepsCount() {
    Cadence cadence = Cadence.within(() -> 0.035);
    int left = 0;
    for (int i = 0; i < FIRST + 2000; i++) {
      cadence.step(left > 0 && left % 4 == 0 ? 20 * MS : 10 * MS, left > 0);
      left--;
      if (cadence.isDue() && left <= 0) {
        cadence.taken(5 * MS);
        left = 20;
      }
    }
    assertThat(cadence.interval()).isBetween(135L, 157L);
  }

  /** If only the disk is slow, the next checkpoint begins once the previous one is written. */
  @Test
  void aCheckpointIsWrittenBeforeTheNextBegins() {
    Cadence cadence = Cadence.within(() -> 0.035);
    train(cadence, 5000, 10 * MS, MS / 100, 400, 1);
    assertThat(checkpoints).isEqualTo(1 + (5000 - FIRST) / 401);
  }

  @Test
  void theFirstCheckpointDoesNotCountInTheAverage() {
    Cadence cadence = Cadence.within(() -> 0.035);
    train(cadence, FIRST, 10 * MS, 700 * MS, 0, 1);
    assertThat(checkpoints).isEqualTo(1);
    assertThat(cadence.interval()).isEqualTo(500);
    train(cadence, 4000, 10 * MS, 35 * MS, 0, 1);
    assertThat(cadence.interval()).isEqualTo(100);
  }

  @Test
  void theCadenceFollowsAMachineThatSlowsDownAndRecovers() {
    Cadence cadence = Cadence.within(() -> 0.035);
    train(cadence, FIRST + 1000, 10 * MS, 35 * MS, 0, 1);
    assertThat(cadence.interval()).isEqualTo(100);
    train(cadence, 3000, 10 * MS, 140 * MS, 0, 1); // The disk is busy.
    assertThat(cadence.interval()).isEqualTo(400);
    train(cadence, 3000, 20 * MS, 140 * MS, 0, 1); // So is the processor.
    assertThat(cadence.interval()).isEqualTo(200);
    train(cadence, 3000, 10 * MS, 35 * MS, 0, 1);
    assertThat(cadence.interval()).isEqualTo(100);
  }

  /** A job that is too short for the assumed cost takes no checkpoint, however long its steps. */
  @Test
  void aShortJobTakesNoCheckpointThatItCannotAfford() {
    for (long step : new long[] {MS / 10, MS, 10 * MS, 400 * MS}) {
      forget();
      Cadence cadence = Cadence.within(() -> 0.035);
      train(cadence, (int) (9_900 * MS / step), step, Cadence.FIRST_NANOS, 0, 1);
      assertThat(checkpoints).isZero();
      train(cadence, (int) (500 * MS / step) + 1, step, Cadence.FIRST_NANOS, 0, 1);
      assertThat(checkpoints).isEqualTo(1);
    }
  }

  /** The job may end at any step. No checkpoint costs more than the first is assumed to cost. */
  @Test
  void theShareHoldsAtEveryMoment() {
    for (long later : new long[] {5 * MS, 35 * MS, 350 * MS}) {
      forget();
      Cadence cadence = Cadence.within(() -> 0.035);
      for (int i = 0; i < 20_000; i++) {
        train(cadence, 1, 10 * MS, checkpoints == 0 ? Cadence.FIRST_NANOS : later, 0, 1);
        assertThat(overhead()).as("after %s ms", now / MS).isLessThan(0.037);
      }
      assertThat(checkpoints).isGreaterThan(15);
    }
  }

  /**
   * The first checkpoint costs 2 s, 20 % of the time so far. The next, which is assumed to cost 2 s
   * as well, waits until 4 s are 3.5 % of the time.
   */
  @Test
  void anExpensiveFirstCheckpointIsPaidBack() {
    Cadence cadence = Cadence.within(() -> 0.035);
    train(cadence, FIRST, 10 * MS, 2_000 * MS, 0, 1);
    assertThat(checkpoints).isEqualTo(1);
    int steps = 0;
    while (checkpoints == 1) {
      train(cadence, 1, 10 * MS, 35 * MS, 0, 1);
      steps++;
    }
    assertThat(now / MS).isBetween(114_000L, 115_000L); // 3.5 % of this time is 4 s.
    train(cadence, 6_000, 10 * MS, 35 * MS, 0, 1);
    assertThat(cadence.interval()).isEqualTo(100);
    assertThat(steps).isGreaterThan(10_000);
    assertThat(overhead()).isLessThan(0.037);
  }

  /** Epochs end with an evaluation, which is not a step. */
  @Test
  void aPauseIsNotAStep() {
    Cadence cadence = Cadence.within(() -> 0.035);
    for (int epoch = 0; epoch < 100; epoch++) {
      train(cadence, 1, 5_000 * MS, 35 * MS, 10, 1);
      train(cadence, 49, 10 * MS, 35 * MS, 10, 1);
    }
    assertThat(cadence.interval()).isEqualTo(100);
  }

  /** Storage refuses each checkpoint after 2 s; all attempts together stay within the share. */
  @Test
  void failedCheckpointsKeepWithinTheShare() {
    Cadence cadence = Cadence.within(() -> 0.035);
    for (int i = 0; i < 100_000; i++) {
      cadence.step(20 * MS, false);
      now += 20 * MS;
      if (cadence.isDue()) {
        cadence.failed(2_000 * MS);
        now += 2_000 * MS;
        lost += 2_000 * MS;
        checkpoints++;
      }
    }
    assertThat(checkpoints).isGreaterThan(10);
    assertThat(overhead()).isLessThan(0.037);
  }

  /** An evaluation while a checkpoint is written does not count as a slowdown of steps. */
  @Test
  void aPauseDuringAWriteIsNoCost() {
    Cadence cadence = Cadence.within(() -> 0.035);
    train(cadence, 2_000, 10 * MS, 35 * MS, 0, 1);
    for (int epoch = 0; epoch < 20; epoch++) {
      while (!cadence.isDue()) {
        cadence.step(10 * MS, false);
      }
      cadence.taken(35 * MS);
      cadence.step(60_000 * MS, true);
    }
    assertThat(cadence.interval()).isLessThan(500);
  }
}
