package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.List;

/**
 * Predicts the speed-up of a job that prepares and trains on one thread if it prepares the next
 * batch during the current step. Compares the sum of the two times with the longer one.
 */
final class Overlap extends Question {
  private static final double[] WORKERS = Series.steps(0, 8, 1);

  Overlap() {
    super("overlap", "Preparation beside the step", "todayHit");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    Setup beside = pipeline.isSerial() ? today.workers(1) : today;
    Measure gain = pipeline.gain(today, beside);
    return new Finding(
        pipeline.isSerial()
            ? Text.format(
                "one thread that prepares beside the step makes the job %s as fast (%s instead of"
                    + " %s).",
                times(gain), speed(pipeline, beside), speed(pipeline, today))
            : Text.format(
                "nothing: %s beside the step already.",
                Text.count(pipeline.workers, "thread prepares", "threads prepare")),
        new Figure("speed with preparation beside the step", "times", gain),
        plot(
            pipeline,
            Axis.WORKERS,
            (double) pipeline.workers,
            series("beside the step", WORKERS, pipeline, today::workers)),
        prefetch(pipeline, gain),
        List.of());
  }
}
