package io.coordl.attribution;

import io.coordl.event.BatchEvent;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * How one batch came to be: when, and what its preparation consisted of. Written by the thread that
 * prepares it, read by the thread that takes it after a hand-over through {@link RecentBatches}.
 */
final class BatchRecord {
  private final AtomicLong ids;

  /** What is counted for the batch. */
  final BatchEvent event = new BatchEvent();

  final long start;

  /** Pauses of collections before it was begun. */
  final long gcBefore;

  long end;
  private long pauses;

  /** It is made by another thread than the one that will wait for it. */
  boolean ahead;

  BatchRecord(AtomicLong ids, long start, long gcBefore) {
    this.ids = ids;
    this.gcBefore = gcBefore;
    this.start = start;
    this.end = start;
    event.begin();
  }

  /** Number of the batch, drawn when first asked for: most waits turn out to make none. */
  long id() {
    if (event.batch == 0) {
      event.batch = ids.incrementAndGet();
    }
    return event.batch;
  }

  /** Share of the preparation that was fetching, 0 to 1. */
  double fetchShare() {
    long duration = end - start;
    return duration <= pauses ? 0 : Math.min(1.0, (double) event.fetch / (duration - pauses));
  }

  /** It is not known which part a collection stopped, so each is taken to have its share. */
  private void withoutPauses(long stopped) {
    long duration = end - start;
    pauses = Math.max(0, Math.min(stopped, duration));
    double left = duration == 0 ? 1 : (double) (duration - pauses) / duration;
    event.fetch = Math.round(event.fetch * left);
    event.decode = Math.round(event.decode * left);
    event.transform = Math.round(event.transform * left);
  }

  /** Adds what was done for the batch to the job's totals; once. */
  void count(JobTotals totals) {
    totals.fetchTime.add(event.fetch);
    totals.decodeTime.add(event.decode);
    totals.transformTime.add(event.transform);
  }

  void finish(long now, @Nullable Object source, Object batch, SpanRecorder recorder) {
    end = now;
    withoutPauses(recorder.gcNanos() - gcBefore);
    count(recorder.totals);
    // Everything that was neither fetch, decode nor transform.
    long known = pauses + event.fetch + event.decode + event.transform;
    event.other = Math.max(0, end - start - known);
    recorder.totals.otherTime.add(event.other);
    event.batch = id();
    event.samples = recorder.samples(batch);
    event.source = source == null ? null : source.getClass().getName();
    event.end();
    recorder.events.write(event, start, end);
  }
}
