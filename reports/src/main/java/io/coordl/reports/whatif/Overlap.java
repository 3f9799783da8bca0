package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.List;

/**
 * What preparing the next batch beside this one's step brings a job that does both on one thread.
 * Looks at the sum of the two and at the longer of them.
 */
final class Overlap implements Question {
  private static final double[] WORKERS = Sketch.steps(0, 8, 1);

  @Override
  public String name() {
    return "overlap";
  }

  @Override
  public String title() {
    return "Preparation beside the step";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing = pipeline.missing("computeNanos", "prepNanos", "missNanos", "todayHit");
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    Setup beside = pipeline.isSerial() ? today.workers(1) : today;
    Measure gain = pipeline.gain(today, beside);
    return new Answer(
        name(),
        title(),
        pipeline.isSerial()
            ? "one thread that prepares beside the step makes the job "
                + Sketch.times(gain)
                + " as fast ("
                + Sketch.speed(pipeline.speed(beside))
                + " after "
                + Sketch.speed(pipeline.speed(today))
                + ")."
            : "nothing: "
                + pipeline.workers()
                + (pipeline.workers() == 1 ? " thread prepares" : " threads prepare")
                + " beside the step already.",
        new Figure("speed with one thread beside", "times", gain),
        new Plot(
            new Axis("workers", "threads"),
            Sketch.SPEED,
            new Point(pipeline.workers(), pipeline.speed(today)),
            List.of(
                Sketch.series(
                    "beside the step", WORKERS, at -> pipeline.speed(today.workers(at))))),
        // The agent prepares DJL's next batch; DL4J prepares ahead itself.
        pipeline.isSerial() && Sketch.uses(pipeline, "djl") && gain.value() >= 1.05
            ? List.of("prefetch=2")
            : List.of(),
        pipeline.assumptions(),
        List.of());
  }
}
