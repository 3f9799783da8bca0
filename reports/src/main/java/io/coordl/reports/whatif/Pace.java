package io.coordl.reports.whatif;

import io.coordl.reports.recording.JobRecording;
import org.jspecify.annotations.Nullable;

/**
 * Training speed of a recorded worker, and preparation speed of its host.
 *
 * @param nanosPerSample time of a step per sample; includes preparation if the training thread
 *     prepares
 * @param computeNanos the part of it spent computing
 * @param suppliedPerSecond samples a second that its host fetches and prepares beside the step;
 *     null if that was not measured, or if the training thread prepares
 * @param sampleBytes stored bytes of a sample; 0 if unknown
 * @param batchSamples samples of a step; 0 if unknown
 * @param preparesItself whether the thread that trains prepares its batches
 */
public record Pace(
    double nanosPerSample,
    double computeNanos,
    @Nullable Double suppliedPerSecond,
    double sampleBytes,
    double batchSamples,
    boolean preparesItself) {

  /** Milliseconds of a sample on an accelerator that is {@code slower} times slower. */
  public double millis(double slower) {
    return (nanosPerSample + (slower - 1) * computeNanos) / 1e6;
  }

  /** The pace of a recording; null if it does not contain the time of a step. */
  public static @Nullable Pace of(JobRecording recording) {
    Pipeline pipeline = Pipeline.of(recording);
    if (pipeline.computeNanos == null) {
      return null;
    }
    Setup today = pipeline.today();
    boolean known = pipeline.prepNanos != null && pipeline.missNanos != null;
    return new Pace(
        pipeline.isSerial() && known
            ? pipeline.nanos(today).value()
            : pipeline.computeNanos.value(),
        pipeline.computeNanos.value(),
        pipeline.isSerial() || !known
            ? null
            : (Double) pipeline.speed(today.step(Double.POSITIVE_INFINITY)).value(),
        pipeline.sampleBytes,
        pipeline.batchSamples,
        pipeline.isSerial());
  }
}
