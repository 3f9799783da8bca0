package io.coordl.reports.differential;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The time of a batch in one phase.
 *
 * @param phase {@code ingestion}, {@code cached}, {@code cold}, {@code prep} or {@code fetch}
 * @param file the recording that contains it
 * @param origin {@code profile}: the agent measured the phase; {@code epochs}: the epochs of an
 *     ordinary recording, without the first
 * @param workers preparing threads besides the training thread, 0 if the training thread prepares;
 *     absent if unknown
 * @param steps number of measured batches
 * @param samplesPerBatch absent if the recording lacks it
 * @param batchNanos mean time of a batch
 * @param gcNanos the part of {@code batchNanos} spent in garbage collection pauses inside waits
 * @param steady false if the phase ended before its confidence interval was narrow enough
 * @param note why the phase ended, or how it was measured
 */
public record Timing(
    String phase,
    String file,
    String origin,
    @Nullable Long workers,
    @Nullable Long warmupSteps,
    long steps,
    @Nullable Double samplesPerBatch,
    Measure batchNanos,
    Measure gcNanos,
    boolean steady,
    @Nullable String note) {

  private static final int MIN_EPOCHS = 3;

  /** Returns the timing of a phase with at least one measured step. */
  static Timing of(String file, PhaseEvent phase) {
    double samples = (double) phase.samples / phase.steps;
    Measure sample = new Measure(phase.sampleNanos, phase.sampleNanosError);
    return new Timing(
        String.valueOf(phase.phase),
        file,
        "profile",
        phase.workers,
        phase.warmupSteps,
        phase.steps,
        samples,
        sample.times(samples),
        pauses(phase.gcStall, phase.steps, sample),
        phase.steady,
        phase.note);
  }

  /**
   * Returns the pauses per step. Assumes the relative error of the time, because a few pauses do
   * not show their own spread.
   */
  private static Measure pauses(long nanos, long steps, Measure time) {
    double pause = (double) nanos / steps;
    return new Measure(pause, pause * (time.error() / time.value()));
  }

  /**
   * Returns the timing of an ordinary recording's epochs, without the first, which is warm-up.
   * Empty if fewer than three epochs are complete, because the spread is then unknown. If training
   * and validation alternate, uses the source with the most compute time. Excludes checkpoints.
   */
  static Optional<Timing> ofEpochs(String phase, JobRecording recording) {
    List<EpochEvent> epochs = recording.steadyEpochs();
    if (epochs.size() < MIN_EPOCHS - 1) {
      return Optional.empty();
    }
    Measure batch =
        Measure.mean(
            epochs.stream()
                .mapToDouble(epoch -> (double) (epoch.wall - epoch.checkpoint) / epoch.batches)
                .toArray());
    Figures sum = EpochEvent.sum(epochs.stream());
    long steps = sum.batches;
    long items = sum.items;
    return Optional.of(
        new Timing(
            phase,
            recording.file().toString(),
            "epochs",
            null,
            null,
            steps,
            items == 0 ? null : (Double) ((double) items / steps),
            batch,
            pauses(sum.gcStall, steps, batch),
            true,
            items == 0 ? null : "each item counts as one sample"));
  }

  /** Returns the time of one sample, or of one batch, in nanoseconds. */
  public Measure nanos(boolean perSample) {
    return perSample && samplesPerBatch != null
        ? batchNanos.times(1 / samplesPerBatch)
        : batchNanos;
  }

  /** Returns the number of preparing threads besides the training thread; 0 if unknown. */
  public long threads() {
    return Objects.requireNonNullElse(workers, 0L);
  }

  Measure pauses(boolean perSample) {
    return perSample && samplesPerBatch != null ? gcNanos.times(1 / samplesPerBatch) : gcNanos;
  }
}
