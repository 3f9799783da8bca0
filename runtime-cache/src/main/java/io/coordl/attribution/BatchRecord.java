package io.coordl.attribution;

import io.coordl.event.BatchEvent;
import io.coordl.event.EventSink;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How one batch came to be: when, and what its preparation consisted of. Written by the thread that
 * prepares it, read by the thread that takes it after a hand-over through {@link RecentBatches}.
 */
final class BatchRecord {
  private final LongSupplier ids;
  private long id;
  final long start;

  /** Pauses of collections before it was begun. */
  final long gcBefore;

  long end;
  private long pauses;
  long fetch;
  long decode;
  long transform;
  long items;

  /** 0 if not known. */
  long samples;

  /** It is made by another thread than the one that will wait for it. */
  boolean ahead;

  private @Nullable BatchEvent event;

  BatchRecord(LongSupplier ids, long start, long gcBefore) {
    this.ids = ids;
    this.gcBefore = gcBefore;
    this.start = start;
    this.end = start;
  }

  /** Number of the batch, drawn when first asked for: most waits turn out to make none. */
  long id() {
    if (id == 0) {
      id = ids.getAsLong();
    }
    return id;
  }

  void begin(@Nullable BatchEvent newEvent) {
    event = newEvent;
    if (newEvent != null) {
      newEvent.begin();
    }
  }

  /** Share of the preparation that was fetching, 0 to 1. */
  double fetchShare() {
    long duration = end - start;
    return duration <= pauses ? 0 : Math.min(1.0, (double) fetch / (duration - pauses));
  }

  /** Everything that was neither fetch, decode nor transform. */
  long other() {
    return Math.max(0, end - start - pauses - fetch - decode - transform);
  }

  /** It is not known which part a collection stopped, so each is taken to have its share. */
  private void withoutPauses(long stopped) {
    long duration = end - start;
    pauses = Math.max(0, Math.min(stopped, duration));
    double left = duration == 0 ? 1 : (double) (duration - pauses) / duration;
    fetch = Math.round(fetch * left);
    decode = Math.round(decode * left);
    transform = Math.round(transform * left);
  }

  /** Adds what was done for the batch to the job's totals; once. */
  void count(JobTotals totals) {
    totals.fetchTime.add(fetch);
    totals.decodeTime.add(decode);
    totals.transformTime.add(transform);
  }

  void finish(long now, @Nullable Object source, Object batch, SpanRecorder recorder) {
    end = now;
    withoutPauses(recorder.gcNanos() - gcBefore);
    count(recorder.totals);
    recorder.totals.otherTime.add(other());
    samples = recorder.samples(batch);
    BatchEvent begun = event;
    event = null;
    if (begun != null) {
      begun.end();
    }
    String type = source == null ? null : source.getClass().getName();
    recorder.events.emit(sink -> write(sink, begun == null ? new BatchEvent() : begun, type));
  }

  private void write(EventSink sink, BatchEvent done, @Nullable String source) {
    if (sink.wants(done)) {
      done.batch = id();
      done.samples = samples;
      done.fetch = fetch;
      done.decode = decode;
      done.transform = transform;
      done.other = other();
      done.items = items;
      done.source = source;
      sink.write(done, start, end);
    }
  }
}
