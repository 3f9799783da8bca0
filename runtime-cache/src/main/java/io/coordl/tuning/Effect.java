package io.coordl.tuning;

import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.Ratio;
import io.coordl.telemetry.steps.SteadySteps;
import io.coordl.telemetry.steps.StepMean;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a change brought to a job that also becomes faster because it warms up. Compares like steps
 * in three windows of the same length: the first and the second half of the steps before the
 * change, without those that a test for drift cuts off, and the steps after it. A warm-up slows
 * down: it cannot make the third window faster than the second by more than it made the second
 * faster than the first. That much is no effect of the change, and neither is more than the waits
 * and the work that went can explain.
 *
 * @param before the steps before, after the warm-up
 * @param after the steps after
 * @param gain how many times as fast, as far as it can be explained; null if no effect is shown
 * @param explained how many times as fast the waits and the work that went can make the job
 * @param isMore whether the job became faster than that
 */
record Effect(
    Figures before, Figures after, @Nullable Ratio gain, double explained, boolean isMore) {

  /** Fewer steps after warm-up show no effect: a drift among them would not be seen. */
  private static final int LEAST = 18;

  /**
   * @param without the steps before the change, in pieces
   * @param with those after it
   * @param between batches between the two
   * @param cores that the job may use
   */
  static Effect of(List<Figures> without, List<Figures> with, long between, double cores) {
    SteadySteps steady = SteadySteps.of(without, Effect::nanosOfBatch);
    SteadySteps changed = SteadySteps.of(with, Effect::nanosOfBatch);
    List<Figures> steps = steady.steps();
    Figures before = Pieces.sum(steps);
    Figures after = Pieces.sum(changed.steps());
    if (!steady.steady() || Math.min(steps.size(), changed.steps().size()) < LEAST) {
      return new Effect(before, after, null, 1, false);
    }
    int half = steps.size() / 2;
    StepMean second = mean(steps.subList(half, steps.size()));
    Ratio next = Ratio.of(second, mean(with.subList(0, Math.min(half, with.size()))));
    Ratio drift = Ratio.of(mean(steps.subList(0, half)), second);
    double apart = 1 + 2.0 * between / Math.max(1, before.batches);
    double low =
        Math.min(
            next.low() / Math.pow(Math.max(1, drift.value()), apart),
            next.times(drift.power(-apart)).low());
    Ratio all = Ratio.of(mean(steps), mean(changed.steps()));
    Ratio observed =
        new Ratio(all.value(), Math.min(low, all.low()), Math.max(all.high(), next.high()));
    double like = (double) before.batches / after.batches;
    double explained =
        new CoreLaw(before, cores)
            .gain(
                Math.round(work(before) - like * work(after)),
                Math.round(before.stall - like * after.stall));
    // It is measured, too, and no better known than the mean times.
    double most = explained * all.high() / all.value();
    Ratio gain = observed.atMost(most);
    return new Effect(
        before,
        after,
        gain.low() < ThreadClimb.GAIN ? null : gain,
        explained,
        most < observed.low());
  }

  private static StepMean mean(List<Figures> steps) {
    return StepMean.of(steps, piece -> piece.wall, piece -> piece.batches);
  }

  /** The number of a batch's samples may be unknown. */
  private static double nanosOfBatch(Figures piece) {
    return (double) piece.wall / Math.max(1, piece.batches);
  }

  /** Self time of fetching and preparing. */
  private static double work(Figures figures) {
    return (double) figures.fetchTime + figures.prepTime();
  }

  /** The same where the change had nothing to do with it. */
  Effect none() {
    return new Effect(before, after, null, explained, isMore);
  }

  /** Describes it. */
  String said() {
    String speeds = Sentence.SPEEDS.with(before.samplesPerSecond(), after.samplesPerSecond());
    return gain == null
        ? Sentence.NO_EFFECT.with(speeds)
        : isMore
            ? Sentence.BROUGHT_AT_MOST.with(speeds, explained)
            : Sentence.BROUGHT.with(speeds, gain);
  }
}
