package io.coordl.attribution;

import io.coordl.event.EpochEvent;
import io.coordl.event.StepEvent;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * One thread's way through one iterator: an epoch if it updates a model, else an evaluation.
 * Confined to the thread.
 */
final class OpenEpoch {
  private final WeakReference<Object> subject;

  /** Its number is 0 until its first batch was taken by a training thread. */
  final EpochEvent event;

  final long start;

  /** Updates by any thread before it began. */
  final long updatesBefore;

  /** An earlier job has made steps of it, which this one leaves out. */
  boolean skips;

  /** That of the batch taken last, which goes on and may be in pieces; null if none does. */
  @Nullable StepEvent step;

  /** When the step began, and when its last piece that took a while ended. */
  long stepBegun;

  long stepEnded;

  /** Checkpoints of the piece that goes on. */
  long pieceCheckpoint;

  OpenEpoch(Object subject, long start, long updatesBefore, @Nullable EpochEvent event) {
    this.subject = new WeakReference<>(subject);
    this.start = start;
    this.updatesBefore = updatesBefore;
    this.event = event == null ? new EpochEvent() : event;
    this.event.source = subject.getClass().getName();
  }

  boolean isOf(Object other) {
    return subject.refersTo(other);
  }
}
