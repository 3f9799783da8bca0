package io.coordl.reports.whatif;

import static io.coordl.telemetry.advice.Advice.MAX_CHECKPOINT_SHARE;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Pipeline.Saves;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Nanos;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Computes how many steps must lie between two saves of a model, so that waits for saves take at
 * most the share of training time that CheckFreq (FAST 2021) allows.
 */
final class SaveInterval extends Question {
  /** Points of the curve per octave; it spans six octaves. */
  private static final int POINTS_PER_OCTAVE = 5;

  SaveInterval() {
    super("saves", "How often to save the model");
  }

  @Override
  boolean concerns(Pipeline pipeline) {
    return pipeline.saves != null || !pipeline.missing("saves").isEmpty();
  }

  @Override
  List<Missing> missing(Pipeline pipeline, Scenario scenario) {
    return pipeline.missing("saves");
  }

  /** Returns no hint: no figure here depends on the cores of a step. */
  @Override
  String hint(Pipeline pipeline, Measure figure) {
    return "";
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Saves saves = Objects.requireNonNull(pipeline.saves);
    Measure steps = steps(saves);
    Measure minSteps = steps.times(1 / MAX_CHECKPOINT_SHARE - 1);
    double interval = Math.max(1, Math.ceil(minSteps.value()));
    double today = share(steps, saves.interval()).value();
    boolean tooOften = today > MAX_CHECKPOINT_SHARE;
    return new Finding(
        Text.format(
            "training waits %s for a save, the time of %s steps; with at least %s between saves, it"
                + " waits at most %s of the time. Today the interval is %s, and training waits %s"
                + " of the time%s.",
            new Nanos(Math.round(saves.waitNanos().value())),
            steps.text(),
            Text.count((long) interval, "step", "steps"),
            tenths(MAX_CHECKPOINT_SHARE),
            Text.count(Math.round(saves.interval()), "step", "steps"),
            tenths(today),
            tooOften
                ? ", which is too much"
                : Text.format(
                    "; a crash loses %s of training on average",
                    new Nanos(Math.round(saves.interval() / 2 * saves.stepNanos().value())))),
        new Figure("steps between two saves", "steps", minSteps),
        Plot.of(
            new Axis("saved every", "steps"),
            new Axis("wait for saves", "share"),
            new Point(saves.interval(), share(steps, saves.interval())),
            Series.of("wait for saves", intervals(interval), x -> share(steps, x))),
        tooOften && !saves.async() ? List.of("checkpoint=async") : List.of(),
        List.of(
            "each save makes training wait as long as the average one; slower steps during"
                + " background writes are not included"));
  }

  /**
   * Returns the duration of a save in steps. Bounds the inputs: no save time is negative, no step
   * far shorter than estimated.
   */
  private static Measure steps(Saves saves) {
    double minStepNanos = saves.stepNanos().value() / 10;
    return Measure.of(
        times -> Math.max(0, times[0]) / Math.max(minStepNanos, times[1]),
        saves.waitNanos(),
        saves.stepNanos());
  }

  private static Measure share(Measure steps, double interval) {
    return Measure.of(
        inputs -> Math.max(0, inputs[0]) / (Math.max(0, inputs[0]) + interval), steps);
  }

  /** Returns intervals from 1/16 to 4x the given one, at least one step. */
  private static double[] intervals(double interval) {
    return IntStream.rangeClosed(-4 * POINTS_PER_OCTAVE, 2 * POINTS_PER_OCTAVE)
        .mapToDouble(i -> Math.rint(interval * Math.pow(2, (double) i / POINTS_PER_OCTAVE)))
        .filter(x -> x >= 1)
        .distinct()
        .toArray();
  }
}
