package io.coordl.attribution;

import io.coordl.bridge.event.EpochEvent;
import io.coordl.bridge.event.StepEvent;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/** One pass of one thread over one iterator: an epoch, or a validation. Confined to the thread. */
final class Pass {
  private final WeakReference<Object> subject;
  private final String source;
  private final @Nullable EpochEvent event;
  final Totals totals = new Totals();
  final long start;

  /** Number of the pass, 0 until its first batch was taken by a training thread. */
  long epoch;

  /** The batch taken last, whose step goes on; 0 if none. */
  long openBatch;

  @Nullable StepEvent stepEvent;

  /** Computing of the open batch so far: a step may be in pieces, with asks in between. */
  long stepNanos;

  /** Checkpoints of the piece that goes on. */
  long pieceCheckpoint;

  long stepCheckpoint;

  Pass(Object subject, long start, boolean events) {
    this.subject = new WeakReference<>(subject);
    this.source = subject.getClass().getName();
    this.start = start;
    this.event = events ? new EpochEvent() : null;
    if (event != null) {
      event.begin();
    }
  }

  boolean isOf(Object other) {
    return subject.refersTo(other);
  }

  boolean isAbandoned() {
    return subject.refersTo(null);
  }

  /**
   * Writes the event.
   *
   * @param delta what all threads did since the last pass ended: each item is counted in one pass
   */
  void commit(boolean complete, long end, JobTotals.Snapshot delta) {
    if (event == null) {
      return;
    }
    event.end();
    if (!event.shouldCommit()) {
      return;
    }
    event.epoch = epoch;
    event.source = source;
    event.complete = complete;
    event.wall = end - start;
    event.batches = totals.batches;
    event.compute = totals.compute;
    event.stall = totals.stall;
    event.fetchStall = totals.fetchStall;
    event.prepStall = totals.prepStall;
    event.gcStall = totals.gcStall;
    event.queueStall = totals.queueStall;
    event.checkpoint = totals.checkpoint;
    event.fetchTime = delta.fetchTime();
    event.decodeTime = delta.decodeTime();
    event.transformTime = delta.transformTime();
    event.otherTime = delta.otherTime();
    event.items = delta.items();
    event.memoryItems = delta.memoryItems();
    event.storageItems = delta.storageItems();
    event.memoryBytes = delta.memoryBytes();
    event.storageBytes = delta.storageBytes();
    event.commit();
  }
}
