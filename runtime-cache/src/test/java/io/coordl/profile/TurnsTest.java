package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Phases take turns, so that a change in the machine's speed affects all of them. The clock
 * advances only by steps and by idle time.
 */
class TurnsTest {
  private static final long MILLI = 1_000_000;
  private static final long MINUTE = 60_000 * MILLI;

  private long now;
  private long idle;
  private final List<String> logged = new ArrayList<>();
  private final List<String> order = new ArrayList<>();
  private final Plan plan =
      Plans.of(new ProfiledItems(path -> false, logged::add), logged::add, this::time);

  private long time() {
    return now + idle;
  }

  /** A phase whose step time depends on when the step begins. */
  private class Fake extends AlternatingStage {
    private final LongUnaryOperator nanos;

    private Fake(String name, LongUnaryOperator nanos) {
      super(TurnsTest.this.plan, name, new Gauge(0, 1));
      this.nanos = nanos;
    }

    @Override
    void begin() {
      resume();
    }

    @Override
    void resume() {
      order.add(name());
    }

    @Override
    Next get(BatchGet get) {
      return Next.OWN;
    }

    @Override
    void took(BatchGet get, Object batch, Step step) {
      long taken = nanos.applyAsLong(now);
      now += taken;
      gauge.add(new Step(1, taken, new PhaseEvent()));
    }

    double millis() {
      return gauge.estimate.nanos() / MILLI;
    }
  }

  private void run(AlternatingStage... phases) {
    Turns turns = new Turns(plan, List.of(phases));
    Iterator<Object> batches = Collections.emptyIterator();
    BatchGet get = new BatchGet(null, batches, true, 0);
    turns.begin();
    while (turns.get(get) == Stage.Next.OWN) {
      turns.took(get, this, null);
    }
  }

  @Test
  void aSteadyPhaseNeedsOneTurn() {
    Fake cold = new Fake("cold", time -> 14 * MILLI);
    Fake cached = new Fake("cached", time -> 12 * MILLI);
    run(cold, cached);

    assertThat(order).containsExactly("cold", "cached");
    assertThat(logged)
        .as("the first phase is logged with the stage")
        .containsExactly("profile: cached");
    assertThat(cold.millis()).isEqualTo(14);
    assertThat(cached.millis()).isEqualTo(12);
    assertThat(now).isLessThan(10_000 * MILLI);
  }

  @Test
  void aSlowMinuteAffectsAllPhases() {
    Random random = new Random(1);
    LongUnaryOperator machine =
        time ->
            Math.round((time / MINUTE % 2 == 0 ? 12 : 10) * MILLI * random.nextDouble(0.5, 1.5));
    Fake cold = new Fake("cold", machine);
    Fake cached = new Fake("cached", machine);
    Fake ingestion = new Fake("ingestion", time -> machine.applyAsLong(time) / 2);
    run(cold, cached, ingestion);

    assertThat(order).startsWith("cold", "cached", "ingestion", "cold", "cached", "ingestion");
    assertThat(cold.millis() / cached.millis()).isCloseTo(1, within(0.03));
    assertThat(ingestion.millis() / cached.millis()).isCloseTo(0.5, within(0.015));
  }

  @Test
  void anUnmeasurablePhaseLeavesItsTurnsToTheOthers() {
    Random random = new Random(1);
    Fake cold = new Fake("cold", time -> random.nextLong(MILLI, 40 * MILLI));
    Fake cached = new Fake("cached", time -> MILLI);
    cached.reason = "too large";
    run(cold, cached);

    assertThat(order).containsExactly("cold", "cached", "cold");
    assertThat(cold.takesMore()).as("it has used all its time").isFalse();
  }

  @Test
  void aPhaseThatCannotContinueKeepsItsSteps() {
    Random random = new Random(1);
    Fake cold = new Fake("cold", time -> random.nextLong(MILLI, 40 * MILLI));
    Fake cached =
        new Fake("cached", time -> random.nextLong(MILLI, 20 * MILLI)) {
          @Override
          void resume() {
            super.resume();
            if (gauge.hasEnoughSteps()) {
              giveUp("no more");
            }
          }
        };
    run(cold, cached);

    assertThat(order).startsWith("cold", "cached", "cold", "cached").hasSize(5);
    assertThat(cached.reason).isEmpty();
    assertThat(cached.millis()).isCloseTo(10.5, within(1.0));
  }

  @Test
  void aPhaseThatNeverSettlesEnds() {
    Fake cold = new Fake("cold", time -> time / 10 + MILLI);
    Fake cached = new Fake("cached", time -> MILLI);
    run(cold, cached);

    assertThat(cold.takesMore()).isFalse();
    assertThat(cached.isSettled()).isTrue();
  }

  /**
   * A phase in which only every {@code counted}-th step counts, or no step if {@code counted} is 0,
   * as in epochs shorter than the workers' queue.
   */
  private final class Uncounted extends Fake {
    private final int counted;
    private int taken;

    private Uncounted(String name, int counted) {
      super(name, time -> 20 * MILLI);
      this.counted = counted;
    }

    @Override
    void took(BatchGet get, Object batch, Step step) {
      assertThat(taken++).as("endless loop").isLessThan(100_000);
      idle += 100 * MILLI;
      if (counted > 0 && taken % counted == 0) {
        super.took(get, batch, step);
      }
    }
  }

  @Test
  void phasesWithoutCountedStepsEndInTime() {
    Uncounted cold = new Uncounted("cold", 0);
    Uncounted cached = new Uncounted("cached", 0);
    Uncounted ingestion = new Uncounted("ingestion", 0);
    run(cold, cached, ingestion);

    assertThat(order).startsWith("cold", "cached", "ingestion");
    assertThat(now + idle).isLessThan(5 * MINUTE);
  }

  @Test
  void phasesWithFewCountedStepsReportThemInTime() {
    Uncounted cold = new Uncounted("cold", 40);
    Uncounted cached = new Uncounted("cached", 40);
    run(cold, cached);

    assertThat(order).startsWith("cold", "cached", "cold");
    assertThat(cold.gauge.hasEnoughSteps()).isTrue();
    assertThat(cached.gauge.hasEnoughSteps()).isTrue();
    assertThat(now + idle).isLessThan(5 * MINUTE);
  }

  @Test
  void aWarmUpWithoutCountedStepsEnds() {
    WarmUp warmUp = new WarmUp(plan);
    BatchGet get = new BatchGet(null, Collections.emptyIterator(), false, 0);
    warmUp.begin();
    int calls = 0;
    while (warmUp.get(get) == Stage.Next.OWN) {
      assertThat(calls++).as("endless loop").isLessThan(100_000);
      warmUp.took(get, this, null);
      idle += 100 * MILLI;
    }
    assertThat(idle).isLessThan(2 * MINUTE);
  }
}
