package io.coordl.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks the effects reported for simulated jobs that warm up over a few or many batches. The times
 * of steps vary, and those of neighbouring steps are correlated.
 */
class EffectTest {
  private static final int JOBS = 200;
  private static final double CORES = 16;

  /**
   * Simulates a job in which a change after the first epoch removes part of the waits, or nothing
   * if {@code gain} is 1.
   *
   * @param gain factor by which the change speeds up the job
   * @param mostWarmUp the warm-up's time constant is at most three batches plus this many epochs
   */
  private static Effect simulated(Random random, double gain, double mostWarmUp) {
    int epoch = 60 + random.nextInt(300);
    double millis = 40 + 200 * random.nextDouble();
    double cold = 3 * random.nextDouble();
    double warmUp = 3 + epoch * mostWarmUp * random.nextDouble();
    double waits = 0.3 + 0.4 * random.nextDouble();
    double deviation = 0.02 + 0.13 * random.nextDouble();
    double alike = 0.7 * random.nextDouble();
    double state = random.nextGaussian();
    List<Figures> without = new ArrayList<>();
    List<Figures> with = new ArrayList<>();
    for (int batch = 0; batch < 3 * epoch; batch++) {
      state = alike * state + Math.sqrt(1 - alike * alike) * random.nextGaussian();
      double nanos =
          millis * 1e6 * (1 + cold * Math.exp(-batch / warmUp)) * Math.exp(deviation * state);
      boolean changed = batch >= epoch;
      (changed ? with : without).add(step(nanos, waits, changed ? gain : 1));
    }
    return Effect.of(without, with, 0, CORES);
  }

  private static Figures step(double nanos, double waits, double gain) {
    double saved = 1 - 1 / gain;
    Figures step = new EpochEvent();
    step.batches = 1;
    step.samples = 32;
    step.wall = Math.round(nanos * (1 - saved));
    step.compute = Math.round(nanos * (1 - waits));
    step.prepStall = Math.round(nanos * (waits - saved));
    step.stall = step.prepStall;
    step.decodeTime = step.prepStall;
    return step;
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.05, 0.3, 1, 3})
  void warmUpAloneIsRarelyReportedAsAGain(double mostWarmUp) {
    int claims = 0;
    for (int seed = 0; seed < JOBS; seed++) {
      Effect effect = simulated(new Random(seed), 1, mostWarmUp);
      claims += effect.gain() == null ? 0 : 1;
    }
    assertThat(claims).isLessThanOrEqualTo(JOBS / 20);
  }

  @Test
  void aRealGainIsSeenWithItsRange() {
    int seen = 0;
    int covered = 0;
    for (int seed = 0; seed < JOBS; seed++) {
      Ratio gain = simulated(new Random(seed), 1.3, 0.1).gain();
      if (gain != null) {
        seen++;
        covered += gain.low() <= 1.3 && gain.high() >= 1.3 ? 1 : 0;
      }
    }
    assertThat(seen).isGreaterThanOrEqualTo(JOBS * 9 / 10);
    assertThat(covered).isGreaterThanOrEqualTo(seen * 95 / 100);
  }

  private static List<Figures> steps(int count, double nanos, double waits) {
    Random random = new Random(1);
    List<Figures> steps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      steps.add(step(nanos * Math.exp(0.05 * random.nextGaussian()), waits, 1));
    }
    return steps;
  }

  /** In the first case, the steps themselves became twice as fast, because another job ended. */
  @Test
  void aGainIsBoundedByTheRemovedWaits() {
    Effect effect = Effect.of(steps(100, 1e8, 0.2), steps(100, 4e7, 0), 0, CORES);
    assertThat(effect.summary())
        .contains("at most 1.25x as fast with caching; the rest is the job's own");
    assertThat(Effect.of(steps(100, 1e8, 0.2), steps(100, 8e7, 0), 0, CORES).summary())
        .matches("320 samples/s before, 401 after: 1\\.2\\d to 1\\.2\\dx as fast with caching");
  }

  /** Over 4,000 batches, even a slight drift of the first 40 can explain a large difference. */
  @Test
  void aGainThatWarmUpMayExplainIsNotDenied() {
    List<Figures> first = steps(40, 1e8, 0.6);
    assertThat(Effect.of(first, steps(100, 5e7, 0.1), 4_000, CORES).summary())
        .endsWith("too few steady steps to tell the effect from the job's own warm-up");
    assertThat(Effect.of(first, steps(100, 1e8, 0.6), 4_000, CORES).summary())
        .endsWith("no measurable effect");
  }

  @Test
  void aFewStepsShowNothing() {
    assertThat(Effect.of(steps(10, 1e8, 0.5), steps(100, 5e7, 0), 0, CORES).summary())
        .endsWith("too few steady steps to tell the effect from the job's own warm-up");
    assertThat(Effect.of(steps(100, 1e8, 0.5), steps(10, 5e7, 0), 0, CORES).gain()).isNull();
    assertThat(Effect.of(steps(100, 1e8, 0.5), steps(100, 5e7, 0), 0, CORES).gain()).isNotNull();
  }
}
