package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.BatchEvent;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Time and work of one batch's preparation. Written by the thread that prepares it, read by the
 * thread that takes it, after a hand-over through {@link RecentBatches}.
 */
final class BatchRecord {
  private final AtomicLong ids;

  /** Figures of the batch. */
  final BatchEvent event = new BatchEvent();

  final long start;

  /** Total of GC pauses when preparation began. */
  final long gcBefore;

  long end;
  private long pauses;

  private final Thread preparer = Thread.currentThread();

  /** Whether the batch is prepared ahead of time, not by the thread that waits for it. */
  boolean ahead;

  BatchRecord(AtomicLong ids, long start, long gcBefore) {
    this.ids = ids;
    this.gcBefore = gcBefore;
    this.start = start;
    this.end = start;
    event.begin();
  }

  /**
   * Returns the number of the batch; assigns it on first use, because most waits do not prepare a
   * batch.
   */
  long id() {
    if (event.batch == 0) {
      event.batch = ids.incrementAndGet();
    }
    return event.batch;
  }

  /** Whether the current thread prepares, or has prepared, the batch. */
  boolean isOfThisThread() {
    return preparer == Thread.currentThread();
  }

  /** Returns the share of the preparation that was fetching, 0 to 1. */
  double fetchShare() {
    long duration = end - start;
    return duration <= pauses ? 0 : Math.min(1.0, (double) event.fetch / (duration - pauses));
  }

  /**
   * Subtracts GC pauses from all parts in proportion, because it is unknown which part a pause
   * interrupted.
   */
  private void withoutPauses(long stopped) {
    long duration = end - start;
    pauses = Math.max(0, Math.min(stopped, duration));
    double remaining = duration == 0 ? 1 : (double) (duration - pauses) / duration;
    event.fetch = Math.round(event.fetch * remaining);
    event.decode = Math.round(event.decode * remaining);
    event.transform = Math.round(event.transform * remaining);
  }

  /** Returns the self times so far of fetches, decoding and transforms, in nanoseconds. */
  long workTime() {
    return event.fetch + event.decode + event.transform;
  }

  /** Adds the work done for the batch to the job's totals; called once. */
  void count(JobTotals totals) {
    totals.fetchTime.add(event.fetch);
    totals.decodeTime.add(event.decode);
    totals.transformTime.add(event.transform);
    totals.prepCoreWait.add(event.coreWait);
  }

  void finish(long now, @Nullable Object source, Object batch, SpanRecorder recorder) {
    end = now;
    withoutPauses(recorder.gcNanos() - gcBefore);
    count(recorder.totals);
    long known = pauses + workTime();
    event.other = Math.max(0, end - start - known);
    recorder.totals.otherTime.add(event.other);
    event.batch = id();
    event.samples = recorder.samples(batch);
    if (source != null) {
      event.source = source.getClass().getName();
      event.dataset = recorder.dataset(source);
    }
    event.end();
    recorder.events.write(event, start, end);
  }
}
