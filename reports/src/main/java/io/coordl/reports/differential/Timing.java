package io.coordl.reports.differential;

import io.coordl.event.EpochEvent;
import io.coordl.event.Figures;
import io.coordl.event.PhaseEvent;
import io.coordl.reports.recording.JobRecording;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How long a batch took in one phase.
 *
 * @param phase {@code ingestion}, {@code cached}, {@code cold}, {@code prep} or {@code fetch}
 * @param file the recording it is from
 * @param origin {@code profile}: the agent measured the phase; {@code epochs}: the epochs of an
 *     ordinary recording but for the first
 * @param workers threads that prepare beside the training thread, 0 if it does so itself; absent if
 *     unknown
 * @param steps batches counted
 * @param samplesPerBatch absent if the recording does not say
 * @param batchNanos mean time of a batch
 * @param gcNanos of it, pauses for garbage collection inside waits
 * @param steady false if the phase ended before its interval was as narrow as asked for
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

  private static final int FEWEST_EPOCHS = 3;

  /** Of a phase that counted at least one step. */
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

  /** A few pauses say little about their spread: they are taken to be as uncertain as the time. */
  private static Measure pauses(long nanos, long steps, Measure time) {
    double pause = (double) nanos / steps;
    return new Measure(pause, pause * (time.error() / time.value()));
  }

  /**
   * Of the epochs of an ordinary recording, the first left out as warm-up; empty if there are fewer
   * than three complete ones, so that the spread is unknown. Training and validation take turns:
   * the source that computes longest is looked at. Checkpoints are taken out.
   */
  static Optional<Timing> ofEpochs(String phase, JobRecording recording) {
    List<EpochEvent> epochs = recording.steadyEpochs();
    if (epochs.size() < FEWEST_EPOCHS - 1) {
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
            items == 0 ? null : "items are taken for samples"));
  }

  /** The time of one sample, or of one batch, in nanoseconds. */
  public Measure nanos(boolean ofSample) {
    return ofSample && samplesPerBatch != null ? batchNanos.times(1 / samplesPerBatch) : batchNanos;
  }

  /** Those that prepare beside the training thread; 0 if unknown. */
  public long threads() {
    return Objects.requireNonNullElse(workers, 0L);
  }

  Measure pauses(boolean ofSample) {
    return ofSample && samplesPerBatch != null ? gcNanos.times(1 / samplesPerBatch) : gcNanos;
  }
}
