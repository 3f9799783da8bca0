package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.List;

/**
 * Predicts the speed-up from a faster accelerator, and its limit: the speed of the job if its steps
 * took no time.
 */
final class FasterStep extends Question {
  private static final double[] FACTORS = Series.steps(1, 8, 1);

  /**
   * At this share of its speed with infinitely fast steps, a job gains little from faster steps.
   */
  private static final double ENOUGH = 0.95;

  FasterStep() {
    super("gpu", "A faster accelerator", "todayHit");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    double factor = scenario.stepFactor() == null ? 2 : scenario.stepFactor();
    Measure gain = pipeline.gain(today, today.step(factor));
    return new Finding(
        Text.format(
            "steps %.1fx as fast make the job %s as fast (%s). However fast the steps are, the job"
                + " becomes at most %s as fast; for %s of that speed, steps must be %s as fast.",
            factor,
            times(gain),
            speed(pipeline, today.step(factor)),
            times(pipeline.gain(today, today.step(Double.POSITIVE_INFINITY))),
            percent(ENOUGH),
            factor(pipeline.figure(costs -> sufficientFactor(costs, today)))),
        new Figure("speed with faster steps", "times", gain),
        plot(
            pipeline,
            new Axis("step speed", "times"),
            1,
            series("today", FACTORS, pipeline, today::step),
            series("everything in memory", FACTORS, pipeline, today.hit(1)::step)),
        List.of(),
        List.of());
  }

  /**
   * Returns the smallest factor that makes the job nearly as fast as infinitely fast steps would.
   */
  static double sufficientFactor(Costs costs, Setup setup) {
    double targetNanos = costs.nanos(setup.step(Double.POSITIVE_INFINITY)) / ENOUGH;
    double high = 1;
    while (costs.nanos(setup.step(high)) > targetNanos && high < 1e6) {
      high *= 2;
    }
    return high == 1
        ? 1
        : HitLaw.root(high / 2, high, factor -> costs.nanos(setup.step(factor)) > targetNanos);
  }
}
