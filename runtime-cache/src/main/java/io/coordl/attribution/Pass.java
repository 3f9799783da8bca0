package io.coordl.attribution;

import io.coordl.event.EpochEvent;
import io.coordl.event.EventSink;
import io.coordl.event.StepEvent;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * One pass of one thread over one iterator: an epoch if it updates a model, else an evaluation.
 * Confined to the thread.
 */
final class Pass {
  private final WeakReference<Object> subject;
  private final String source;
  private final @Nullable EpochEvent event;
  final Totals totals = new Totals();
  final long start;

  /** Number of the pass, 0 until its first batch was taken by a training thread. */
  long epoch;

  /** Model updates of its steps. */
  long updates;

  /** Updates by any thread before it began. */
  final long updatesBefore;

  /** The batch taken last, whose step goes on; 0 if none. */
  long openBatch;

  @Nullable StepEvent stepEvent;

  /** When the step began, and when its last piece that took a while ended. */
  long stepBegun;

  long stepEnded;

  /** Computing of the open batch so far: a step may be in pieces, with asks in between. */
  long stepNanos;

  /** Checkpoints of the piece that goes on. */
  long pieceCheckpoint;

  long stepCheckpoint;

  /**
   * A pass over data.
   *
   * @param start when its first wait began
   * @param updatesBefore model updates by any thread before it began
   * @param event begun at that time, if there was a recording
   */
  Pass(Object subject, long start, long updatesBefore, @Nullable EpochEvent event) {
    this.subject = new WeakReference<>(subject);
    this.source = subject.getClass().getName();
    this.start = start;
    this.updatesBefore = updatesBefore;
    this.event = event;
  }

  boolean isOf(Object other) {
    return subject.refersTo(other);
  }

  /**
   * Writes the event, now or once the recording that is being started runs.
   *
   * @param delta what all threads did since the last pass ended: each item is counted in one pass
   */
  void finish(boolean complete, long end, JobTotals.Snapshot delta, SpanRecorder recorder) {
    EpochEvent begun = event;
    if (begun != null) {
      begun.end();
    }
    recorder
        .events()
        .emit(sink -> write(sink, begun == null ? new EpochEvent() : begun, complete, end, delta));
  }

  private void write(
      EventSink sink, EpochEvent ended, boolean complete, long end, JobTotals.Snapshot delta) {
    if (!sink.wants(ended)) {
      return;
    }
    ended.epoch = epoch;
    ended.updates = updates;
    ended.source = source;
    ended.complete = complete;
    ended.wall = end - start;
    ended.batches = totals.batches;
    ended.compute = totals.compute;
    ended.stall = totals.stall;
    ended.fetchStall = totals.fetchStall;
    ended.prepStall = totals.prepStall;
    ended.gcStall = totals.gcStall;
    ended.queueStall = totals.queueStall;
    ended.checkpoint = totals.checkpoint;
    ended.fetchTime = delta.fetchTime();
    ended.decodeTime = delta.decodeTime();
    ended.transformTime = delta.transformTime();
    ended.otherTime = delta.otherTime();
    ended.items = delta.items();
    ended.memoryItems = delta.memoryItems();
    ended.peerItems = delta.peerItems();
    ended.storageItems = delta.storageItems();
    ended.memoryBytes = delta.memoryBytes();
    ended.peerBytes = delta.peerBytes();
    ended.storageBytes = delta.storageBytes();
    sink.write(ended, start, end);
  }
}
