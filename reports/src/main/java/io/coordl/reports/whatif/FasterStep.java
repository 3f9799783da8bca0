package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.List;

/**
 * What a faster accelerator, or a faster step, brings, and where it stops to bring more. Looks at
 * what a job waits for once its steps take no time.
 */
final class FasterStep implements Question {
  private static final double[] FACTORS = Sketch.steps(1, 8, 1);

  /** Of the speed of infinitely fast steps: from there on, more is wasted. */
  private static final double ENOUGH = 0.95;

  @Override
  public String name() {
    return "gpu";
  }

  @Override
  public String title() {
    return "A faster accelerator";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing = pipeline.missing("computeNanos", "prepNanos", "missNanos", "todayHit");
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    double factor = wishes.stepFactor() == null ? 2 : wishes.stepFactor();
    Measure gain = pipeline.gain(today, today.step(factor));
    Measure stops = pipeline.figure(costs -> stops(costs, today));
    Measure limit = pipeline.gain(today, today.step(Double.POSITIVE_INFINITY));
    return new Answer(
        name(),
        title(),
        "steps "
            + Text.format("%.1f", factor)
            + " times as fast make the job "
            + Sketch.times(gain)
            + " as fast ("
            + Sketch.speed(pipeline.speed(today.step(factor)))
            + "); however fast they are, it becomes "
            + Sketch.times(limit)
            + " as fast at most, and "
            + Sketch.percent(ENOUGH)
            + " of that speed takes steps "
            + Sketch.number(stops)
            + " times as fast.",
        new Figure("speed with faster steps", "times", gain),
        new Plot(
            new Axis("step speed", "times"),
            Sketch.SPEED,
            new Point(1, pipeline.speed(today)),
            List.of(
                Sketch.series("today", FACTORS, at -> pipeline.speed(today.step(at))),
                Sketch.series(
                    "everything in memory", FACTORS, at -> pipeline.speed(today.hit(1).step(at))))),
        List.of(),
        pipeline.assumptions(),
        List.of());
  }

  /** The factor that gives nearly all of what infinitely fast steps would. */
  static double stops(Costs costs, Setup setup) {
    double wanted = costs.nanos(setup.step(Double.POSITIVE_INFINITY)) / ENOUGH;
    if (costs.nanos(setup.step(1)) <= wanted || wanted <= 0) {
      return 1;
    }
    double low = 1;
    double high = 2;
    while (costs.nanos(setup.step(high)) > wanted && high < 1e6) {
      high *= 2;
    }
    while (high - low > 1e-6 * high) {
      double middle = (low + high) / 2;
      if (costs.nanos(setup.step(middle)) > wanted) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }
}
