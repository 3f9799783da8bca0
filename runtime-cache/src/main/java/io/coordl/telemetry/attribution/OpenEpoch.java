package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.StepEvent;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * One thread's pass through one iterator: an epoch if it updates a model, else an evaluation.
 * Confined to that thread until the job ends.
 */
final class OpenEpoch {
  private final WeakReference<Object> subject;

  /** The event's number is 0 until a training thread takes the epoch's first batch. */
  final EpochEvent event;

  final long start;

  /** Model updates by any thread before the epoch began. */
  final long updatesBefore;

  /** Whether an earlier job has made some of its steps, which this job skips. */
  boolean skips;

  /** Durations of its steps. */
  final StepTimes steps = new StepTimes();

  /** Step of the batch taken last, perhaps in several pieces; null if no step is open. */
  @Nullable StepEvent step;

  /** When the step began, and when its last long piece ended. */
  long stepBegun;

  long stepEnded;

  /**
   * When the thread last turned to another iterator: the start of its wait for that iterator's
   * batch.
   */
  long left;

  /** Checkpoint time in the current piece. */
  long pieceCheckpoint;

  /**
   * @param dataset class of the data set whose batches the subject yields
   * @param event event begun with the epoch's first wait; null if none was begun
   */
  OpenEpoch(
      Object subject, String dataset, long start, long updatesBefore, @Nullable EpochEvent event) {
    this.subject = new WeakReference<>(subject);
    this.start = start;
    this.updatesBefore = updatesBefore;
    this.event = event == null ? new EpochEvent() : event;
    this.event.source = subject.getClass().getName();
    this.event.dataset = dataset;
  }

  /** Returns the source of the epoch's batches; null once the program has dropped it. */
  @Nullable Object subject() {
    return subject.get();
  }

  boolean isOf(Object other) {
    return subject.refersTo(other);
  }
}
