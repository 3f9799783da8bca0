package io.coordl.reports.comparison;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.SteadySteps;
import io.coordl.telemetry.steps.StepMean;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Time per sample or per batch in one run after warm-up.
 *
 * @param nanos nanoseconds; 0 if nothing was trained
 * @param mean the same with its error; null if there is too little data for an error
 * @param from source of the figure
 * @param of part of the run that it covers, worded to follow "2x as fast"
 * @param steady false if its steps were still becoming faster or slower at the end
 * @param slowestHundredth share of the time that the slowest hundredth of the steps takes
 * @param lost share of the time during which other programs used the cores that its steps needed;
 *     {@code nanos} excludes this time; 0 if the machine was not busy
 */
record RunSpeed(
    double nanos,
    @Nullable StepMean mean,
    From from,
    String of,
    boolean steady,
    double slowestHundredth,
    double lost) {

  /** Sources, from the best to the worst. */
  enum From {
    STEPS,
    EPOCHS,
    TOTALS
  }

  /** Minimum steps after warm-up; with fewer, the speed comes from the epochs. */
  private static final int MIN_STEPS = 10;

  /**
   * Returns the speed per sample or per batch.
   *
   * @param steps false to use epochs even if steps are recorded, because the other run has none
   */
  static RunSpeed of(JobRecording recording, boolean ofSample, boolean steps) {
    ToDoubleFunction<Figures> amount = figures -> ofSample ? figures.samples : figures.batches;
    boolean busy = recording.coreLaw().isMachineBusy();
    ToDoubleFunction<Figures> nanos = figures -> busy ? ownNanos(figures) : (double) figures.wall;
    ToDoubleFunction<Figures> time =
        figures -> nanos.applyAsDouble(figures) / amount.applyAsDouble(figures);
    if (steps) {
      SteadySteps steady = SteadySteps.of(recording.trainingSteps(), time);
      if (hasSteps(steady)) {
        StepMean mean = StepMean.of(steady.steps(), nanos, amount);
        return new RunSpeed(
            mean.value(),
            mean,
            From.STEPS,
            "by its steps after warm-up",
            steady.steady(),
            steady.slowestHundredth(time),
            busy ? lost(steady.steps()) : 0);
      }
    }
    List<EpochEvent> epochs = recording.steadyEpochs();
    if (epochs.size() >= 2) {
      StepMean mean = StepMean.ofRuns(epochs.stream().mapToDouble(time).toArray());
      return new RunSpeed(
          mean.value(),
          mean,
          From.EPOCHS,
          "from the second epoch on",
          true,
          0,
          busy ? lost(epochs) : 0);
    }
    Figures all = epochs.isEmpty() ? recording.job() : epochs.get(0);
    return new RunSpeed(
        all == null || amount.applyAsDouble(all) <= 0 ? 0 : time.applyAsDouble(all),
        null,
        From.TOTALS,
        epochs.isEmpty() ? "in the whole job" : "in the second epoch",
        true,
        0,
        busy && all != null ? lost(List.of(all)) : 0);
  }

  private static double ownNanos(Figures figures) {
    return new CoreLaw(figures, 0).own();
  }

  private static double lost(List<? extends Figures> parts) {
    Figures all = EpochEvent.sum(parts.stream());
    return all.wall <= 0 ? 0 : 1 - ownNanos(all) / all.wall;
  }

  /** Returns whether the speed of a run can be taken from its steps. */
  static boolean hasSteps(JobRecording recording) {
    return hasSteps(SteadySteps.of(recording.trainingSteps(), figures -> figures.wall));
  }

  private static boolean hasSteps(SteadySteps steady) {
    return steady.steps().size() >= MIN_STEPS;
  }

  /** Returns whether the sizes of all batches behind the speed are known. */
  static boolean knowsSamples(JobRecording recording) {
    List<? extends Figures> source =
        hasSteps(recording) ? recording.trainingSteps() : recording.steadyEpochs();
    return source.isEmpty()
        ? recording.job() != null && recording.job().samples > 0
        : source.stream().allMatch(figures -> figures.samples > 0);
  }

  boolean isKnown() {
    return nanos > 0;
  }
}
