package io.coordl.attribution;

import io.coordl.advice.Figures;
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

  String source() {
    return source;
  }

  /** Writes the event, now or once the recording that is being started runs. */
  void finish(boolean complete, long end, Figures figures, SpanRecorder recorder) {
    EpochEvent begun = event;
    if (begun != null) {
      begun.end();
    }
    recorder
        .events()
        .emit(
            sink -> write(sink, begun == null ? new EpochEvent() : begun, complete, end, figures));
  }

  private void write(
      EventSink sink, EpochEvent ended, boolean complete, long end, Figures figures) {
    if (!sink.wants(ended)) {
      return;
    }
    ended.epoch = epoch;
    ended.updates = updates;
    ended.source = source;
    ended.complete = complete;
    ended.wall = figures.wallNanos();
    ended.batches = figures.batches();
    ended.compute = figures.computeNanos();
    ended.stall = figures.stallNanos();
    ended.fetchStall = figures.fetchStallNanos();
    ended.prepStall = figures.prepStallNanos();
    ended.gcStall = figures.gcStallNanos();
    ended.queueStall = figures.queueStallNanos();
    ended.checkpoint = figures.checkpointNanos();
    ended.fetchTime = figures.fetchTimeNanos();
    ended.decodeTime = figures.decodeTimeNanos();
    ended.transformTime = figures.transformTimeNanos();
    ended.otherTime = figures.otherTimeNanos();
    ended.items = figures.items();
    ended.memoryItems = figures.memoryItems();
    ended.peerItems = figures.peerItems();
    ended.storageItems = figures.storageItems();
    ended.memoryBytes = figures.memoryBytes();
    ended.peerBytes = figures.peerBytes();
    ended.storageBytes = figures.storageBytes();
    sink.write(ended, start, end);
  }
}
