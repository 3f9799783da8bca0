package io.coordl.tuning;

import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.Ratio;
import io.coordl.telemetry.steps.SteadySteps;
import io.coordl.telemetry.steps.StepMean;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The speed-up that a change caused, separated from the job's own warm-up. Compares three windows
 * of equal length: the first half of the steady steps before the change, the second half of those
 * steps, and the first steps after the change. A drift test removes the warm-up steps first.
 * Warm-up levels off: from the second window to the third it gains at most what it gained from the
 * first to the second. That much is not credited to the change, nor is any speed-up beyond what the
 * removed waits and work explain.
 *
 * @param before the steps before the change, after warm-up
 * @param after the steps after the change
 * @param gain speed-up credited to the change; null if none is significant
 * @param explained largest speed-up that the removed waits and work can explain
 * @param exceedsExplained whether the observed speed-up is larger than {@code explained}
 * @param isMeasured whether there were enough steady steps to find a gain, or to exclude an evident
 *     one
 */
record Effect(
    Figures before,
    Figures after,
    @Nullable Ratio gain,
    double explained,
    boolean exceedsExplained,
    boolean isMeasured) {

  /** Minimum number of steady steps; in fewer, a drift would go unnoticed. */
  private static final int MIN_STEPS = 18;

  /**
   * Returns the effect of a change.
   *
   * @param stepsBefore steps before the change
   * @param stepsAfter steps after it
   * @param between number of batches between the two
   * @param cores number of cores that the job may use
   */
  static Effect of(
      List<Figures> stepsBefore, List<Figures> stepsAfter, long between, double cores) {
    SteadySteps steady = SteadySteps.of(stepsBefore, Effect::nanosOfBatch);
    SteadySteps steadyAfter = SteadySteps.of(stepsAfter, Effect::nanosOfBatch);
    List<Figures> steps = steady.steps();
    Figures before = StepHistory.sum(steps);
    Figures after = StepHistory.sum(steadyAfter.steps());
    if (!steady.steady() || Math.min(steps.size(), steadyAfter.steps().size()) < MIN_STEPS) {
      return new Effect(before, after, null, 1, false, false);
    }
    int half = steps.size() / 2;
    StepMean second = mean(steps.subList(half, steps.size()));
    Ratio latest = Ratio.of(second, mean(stepsAfter.subList(0, Math.min(half, stepsAfter.size()))));
    Ratio drift = Ratio.of(mean(steps.subList(0, half)), second);
    double windowsApart = 1 + 2.0 * between / Math.max(1, before.batches);
    double low =
        Math.min(
            latest.low() / Math.pow(Math.max(1, drift.value()), windowsApart),
            latest.times(drift.power(-windowsApart)).low());
    Ratio all = Ratio.of(mean(steps), mean(steadyAfter.steps()));
    Ratio observed =
        new Ratio(all.value(), Math.min(low, all.low()), Math.max(all.high(), latest.high()));
    double scale = (double) before.batches / after.batches;
    double explained =
        new CoreLaw(withoutCompilers(before), cores)
            .gain(
                Math.round(before.work() - scale * after.work()),
                Math.round(before.stall - scale * after.stall));
    // The explanation comes from the same measurements, so it has their uncertainty.
    double limit = explained * all.high() / all.value();
    Ratio gain = observed.atMost(limit);
    boolean isFound = gain.low() >= ThreadClimb.GAIN;
    return new Effect(
        before,
        after,
        isFound ? gain : null,
        explained,
        limit < observed.low(),
        isFound || gain.high() < ThreadClimb.EVIDENT);
  }

  /**
   * Returns figures in which the CPU time of compilers and collectors counts as the job's own, so
   * it bounds the speed-up. Compilers that become idle are no effect of the change.
   */
  private static Figures withoutCompilers(Figures figures) {
    Figures all = new EpochEvent();
    all.add(figures);
    all.compilerCpu = 0;
    all.collectorCpu = 0;
    return all;
  }

  private static StepMean mean(List<Figures> steps) {
    return StepMean.of(steps, step -> step.wall, step -> step.batches);
  }

  /** Returns nanoseconds per batch, not per sample, because a batch's size may be unknown. */
  private static double nanosOfBatch(Figures step) {
    return (double) step.wall / Math.max(1, step.batches);
  }

  /** Returns the same figures with no speed-up credited to the change. */
  Effect none() {
    return new Effect(before, after, null, explained, exceedsExplained, true);
  }

  private boolean isFaster() {
    return ThreadClimb.rate(after) > ThreadClimb.GAIN * ThreadClimb.rate(before);
  }

  /** Describes the effect in a phrase, for the recording and the summary. */
  String summary() {
    String speeds = Sentence.SPEEDS.with(before.samplesPerSecond(), after.samplesPerSecond());
    return gain == null
        ? (isMeasured || !isFaster() ? Sentence.NO_EFFECT : Sentence.TOO_FEW_STEPS).with(speeds)
        : exceedsExplained
            ? Sentence.BROUGHT_AT_MOST.with(speeds, explained)
            : Sentence.BROUGHT.with(speeds, gain);
  }
}
