package io.coordl.reports.whatif;

import io.coordl.reports.recording.JobRecording;
import org.jspecify.annotations.Nullable;

/**
 * Training speed of a recorded worker, and preparation speed of its host.
 *
 * @param nanosPerSample time of a step per sample; includes preparation if the training thread
 *     prepares
 * @param computeNanos the part of {@code nanosPerSample} spent computing
 * @param suppliedPerSecond samples per second that its host fetches and prepares during the steps;
 *     null if that was not measured, or if the training thread prepares
 * @param sampleBytes stored bytes of a sample; 0 if unknown
 * @param batchSamples samples of a step; 0 if unknown
 * @param preparesItself whether the training thread prepares its batches
 */
public record Pace(
    double nanosPerSample,
    double computeNanos,
    @Nullable Double suppliedPerSecond,
    double sampleBytes,
    double batchSamples,
    boolean preparesItself) {

  /** Returns the milliseconds per sample on an accelerator that is slower by this factor. */
  public double millis(double slower) {
    return (nanosPerSample + (slower - 1) * computeNanos) / 1e6;
  }

  /** Returns the pace of a recording; null if it does not contain the time of a step. */
  public static @Nullable Pace of(JobRecording recording) {
    Pipeline pipeline = Pipeline.of(recording);
    if (pipeline.computeNanos == null) {
      return null;
    }
    Setup today = pipeline.today();
    boolean hasStages = pipeline.prepNanos != null && pipeline.missNanos != null;
    return new Pace(
        pipeline.isSerial() && hasStages
            ? pipeline.nanos(today).value()
            : pipeline.computeNanos.value(),
        pipeline.computeNanos.value(),
        pipeline.isSerial() || !hasStages
            ? null
            : (Double) pipeline.speed(today.step(Double.POSITIVE_INFINITY)).value(),
        pipeline.sampleBytes,
        pipeline.batchSamples,
        pipeline.isSerial());
  }
}
