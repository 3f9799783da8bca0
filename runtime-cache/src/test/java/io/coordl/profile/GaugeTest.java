package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.PhaseEvent;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gauge takes steps until their rate is known or a limit is reached. */
class GaugeTest {
  private static final long MILLI = 1_000_000;

  private static void feed(Gauge gauge, int maxSteps, long nanos) {
    for (int i = 0; i < maxSteps && !gauge.isDone(); i++) {
      gauge.add(new Step(4, nanos, new PhaseEvent()));
    }
  }

  @Test
  void evenStepsSettleAfterTwoSeconds() {
    Gauge gauge = new Gauge(0, 3);
    feed(gauge, 10_000, 10 * MILLI);

    PhaseEvent event = gauge.event("cold", 2, "");
    assertThat(gauge.isDone()).isTrue();
    assertThat(event.steady).isTrue();
    assertThat(event.warmupSteps).isEqualTo(3);
    assertThat(event.wall).isEqualTo(2_000 * MILLI);
    assertThat(event.samples).isEqualTo(4 * event.steps);
    assertThat(event.sampleNanos).isEqualTo(2.5 * MILLI);
    assertThat(event.note).isEmpty();
  }

  private static PhaseEvent besideOthers(long coreWait) {
    return besideOthers(10 * MILLI, coreWait);
  }

  private static PhaseEvent besideOthers(long compute, long coreWait) {
    Gauge gauge = new Gauge(0, 0);
    PhaseEvent work = new PhaseEvent();
    work.compute = compute;
    work.coreWait = coreWait + 1;
    work.computeCoreWait = coreWait;
    work.cpu = 1;
    for (int i = 0; i < 10_000 && !gauge.isDone(); i++) {
      gauge.add(new Step(4, 10 * MILLI, work));
    }
    return gauge.event("cold", 0, "");
  }

  @Test
  void timeLostToOtherProgramsIsExcludedAndReported() {
    PhaseEvent busy = besideOthers(4 * MILLI);
    assertThat(busy.sampleNanos).isEqualTo(1.5 * MILLI);
    assertThat(busy.note)
        .isEqualTo(
            "busy machine: excludes the 40 % of the time in which other programs used the cores");
    PhaseEvent calm = besideOthers(MILLI / 10);
    assertThat(calm.sampleNanos).isEqualTo(2.5 * MILLI);
    assertThat(calm.note).isEmpty();
  }

  /** Other programs take a different time in each step; the job always needs the same. */
  @Test
  void stepsAreSteadyOnABusyMachineWhoseLoadIsNot() {
    Gauge gauge = new Gauge(0, 0);
    Random random = new Random(3);
    for (int i = 0; i < 6_000 && !gauge.isDone(); i++) {
      PhaseEvent work = new PhaseEvent();
      long waits = Math.round(20 * MILLI * Math.pow(random.nextDouble(), i % 900 < 400 ? 1 : 4));
      long prepWaits = waits / 2;
      work.compute = 6 * MILLI + waits - prepWaits;
      work.computeCoreWait = waits - prepWaits;
      work.prepStall = 4 * MILLI + prepWaits; // The training thread prepares.
      work.otherTime = work.prepStall;
      work.prepCoreWait = prepWaits;
      work.coreWait = waits + 1;
      work.cpu = 1;
      gauge.add(new Step(1, 10 * MILLI + waits, work));
    }

    PhaseEvent event = gauge.event("cold", 0, "");
    assertThat(event.steady).isTrue();
    assertThat(event.sampleNanos).isCloseTo(10.0 * MILLI, within(1e4));
    assertThat(event.note).contains("in which other programs used the cores");
  }

  /** Work of the profile between two batches counts as compute, but belongs to no step. */
  @Test
  void theProfilesOwnWorkIsNotStepTime() {
    assertThat(besideOthers(40 * MILLI, 20 * MILLI).sampleNanos).isEqualTo(1.25 * MILLI);
    assertThat(besideOthers(40 * MILLI, 40 * MILLI).sampleNanos).isEqualTo(0.25 * MILLI);
  }

  @Test
  void noisyStepsNeedMoreSteps() {
    Gauge gauge = new Gauge(0, 0);
    Random random = new Random(1);
    while (!gauge.isDone()) {
      gauge.add(
          new Step(
              1, Math.round(10 * MILLI * (1 + 0.3 * random.nextGaussian())), new PhaseEvent()));
    }

    PhaseEvent event = gauge.event("cached", 0, "");
    assertThat(event.steps).isGreaterThan(400);
    assertThat(event.sampleNanosError).isLessThanOrEqualTo(0.01 * event.sampleNanos);
  }

  @Test
  void unsettledStepsEndAtABoundAndAreMarkedUnsteady() {
    Gauge gauge = new Gauge(0, 0);
    for (int i = 0; !gauge.isDone(); i++) {
      gauge.add(new Step(1, i % 2 == 0 ? 10 * MILLI : (i + 1L) * MILLI, new PhaseEvent()));
    }

    PhaseEvent event = gauge.event("cold", 0, "");
    assertThat(event.steady).isFalse();
    assertThat(event.sampleNanosError).isGreaterThan(0.01 * event.sampleNanos);
  }

  @Test
  void aChangeTooSmallToMatterIsSteady() {
    Gauge small = new Gauge(0, 0);
    feed(small, 90, 20 * MILLI);
    feed(small, 80, 20 * MILLI + MILLI / 10);
    small.close();
    Gauge large = new Gauge(0, 0);
    feed(large, 90, 20 * MILLI);
    feed(large, 80, 21 * MILLI);
    large.close();

    assertThat(small.event("cached", 0, "").steady).isTrue();
    assertThat(large.event("cached", 0, "").steady).isFalse();
  }

  @Test
  void atLeastTheRequestedNumberOfStepsIsUsed() {
    Gauge gauge = new Gauge(30, 0);
    feed(gauge, 10_000, MILLI / 10);

    assertThat(gauge.event("ingestion", 0, "").steps).isBetween(30L, 35L);
  }

  @Test
  void tooFewStepsGiveNoResult() {
    Gauge gauge = new Gauge(0, 4);
    feed(gauge, 9, MILLI);
    gauge.close();

    assertThat(gauge.isDone()).isFalse();
    assertThat(gauge.tooFew()).isEqualTo("only 9 steps were seen");
  }

  @Test
  void stepsBeforeTheEndOfTheJobAreReported() {
    Gauge gauge = new Gauge(0, 0);
    feed(gauge, 15, MILLI);
    gauge.close();

    assertThat(gauge.isDone()).isTrue();
    assertThat(gauge.event("cold", 0, "").steps).isEqualTo(15);
  }

  @Test
  void aRestartForgetsEarlierSteps() {
    Gauge gauge = new Gauge(30, 0);
    feed(gauge, 20, 100 * MILLI);
    gauge.restart();
    feed(gauge, 10_000, MILLI);

    assertThat(gauge.event("cached", 0, "").sampleNanos).isEqualTo(MILLI / 4.0);
  }

  @Test
  void aRestartForgetsStepsOfThisTurnOnly() {
    Gauge gauge = new Gauge(30, 0);
    feed(gauge, 20, MILLI);
    gauge.nextTurn(0);
    feed(gauge, 25, 100 * MILLI);
    gauge.restart();
    feed(gauge, 10_000, MILLI);

    PhaseEvent event = gauge.event("cached", 0, "");
    assertThat(event.sampleNanos).isEqualTo(MILLI / 4.0);
    assertThat(event.steps).isEqualTo(30);
  }

  @Test
  void theFirstStepsOfATurnAreWarmUp() {
    Gauge gauge = new Gauge(0, 3);
    gauge.nextTurn(0);
    feed(gauge, 100, 20 * MILLI);
    feed(gauge, 10, MILLI);
    gauge.close();

    PhaseEvent event = gauge.event("cold", 0, "");
    assertThat(event.warmupSteps).isEqualTo(100);
    assertThat(event.wall).isEqualTo(10 * MILLI);
  }

  @Test
  void slowTurnsCount() {
    Gauge gauge = new Gauge(0, 0);
    add(gauge, 500, 20 * MILLI);
    gauge.nextTurn(0);
    add(gauge, 134, 15 * MILLI); // Two seconds of warm-up.
    add(gauge, 1_200, 15 * MILLI);
    gauge.close();

    PhaseEvent event = gauge.event("cached", 0, "");
    assertThat(event.steps).isEqualTo(1_700);
    assertThat(event.sampleNanos).isEqualTo((500 * 20 + 1_200 * 15) * MILLI / 4.0 / 1_700);
  }

  private static void add(Gauge gauge, int count, long nanos) {
    for (int i = 0; i < count; i++) {
      gauge.add(new Step(4, nanos, new PhaseEvent()));
    }
  }

  @Test
  void aTurnEndsWhenTheRateIsKnownOrAfterTenSeconds() {
    Gauge known = new Gauge(0, 0);
    feed(known, 10_000, 10 * MILLI);
    Gauge unknown = new Gauge(0, 0);
    for (int i = 1; i <= 900; i++) {
      unknown.add(new Step(1, (i % 7 + 1L) * i * MILLI / 100, new PhaseEvent()));
    }
    assertThat(known.isTurnOver()).isTrue();
    assertThat(unknown.isDone()).isFalse();
    assertThat(unknown.isTurnOver()).isTrue();

    unknown.nextTurn(0);
    assertThat(unknown.isTurnOver()).isFalse();
  }

  @Test
  void batchesMadeByOtherPhasesDoNotCount() {
    Gauge gauge = new Gauge(0, 3);
    gauge.nextTurn(32);
    feed(gauge, 32, 500 * MILLI);
    feed(gauge, 10, MILLI);
    gauge.close();

    assertThat(gauge.event("cold", 1, "").wall).isEqualTo(10 * MILLI);
  }

  @ParameterizedTest
  @ValueSource(longs = {7_000, 16_000, 61_000})
  void longStepsContinueUntilFiveAreTaken(long millis) {
    Gauge gauge = new Gauge(0, 1);
    for (int i = 0; i < 100 && !gauge.isTurnOver(); i++) {
      gauge.add(new Step(1, millis * MILLI, new PhaseEvent()));
    }
    gauge.close();

    assertThat(gauge.isDone()).isTrue();
    assertThat(gauge.event("cold", 0, "").steps).isGreaterThanOrEqualTo(5);
  }
}
