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
  private final long start;
  private final long gcBefore;
  private long end;
  private long pauses;
  private long fetch;
  private long decode;
  private long transform;
  private long items;
  private long samples;
  private boolean ahead;
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

  long start() {
    return start;
  }

  /** Pauses of collections before it was begun. */
  long gcBefore() {
    return gcBefore;
  }

  long end() {
    return end;
  }

  void begin(@Nullable BatchEvent newEvent) {
    event = newEvent;
    if (newEvent != null) {
      newEvent.begin();
    }
  }

  /** It is made by another thread than the one that will wait for it. */
  void preparedAhead() {
    ahead = true;
  }

  boolean isPreparedAhead() {
    return ahead;
  }

  /** Samples of the batch, 0 if not known. */
  long samples() {
    return samples;
  }

  void addFetch(long nanos) {
    fetch += nanos;
  }

  void addDecode(long nanos) {
    decode += nanos;
  }

  void addTransform(long nanos) {
    transform += nanos;
  }

  void addItem() {
    items++;
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
    count(recorder.totals());
    recorder.totals().otherTime.add(other());
    samples = recorder.samples(batch);
    BatchEvent begun = event;
    event = null;
    if (begun != null) {
      begun.end();
    }
    String type = source == null ? null : source.getClass().getName();
    recorder.events().emit(sink -> write(sink, begun == null ? new BatchEvent() : begun, type));
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
