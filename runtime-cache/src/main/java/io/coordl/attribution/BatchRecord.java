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
  private long end;
  private long fetch;
  private long decode;
  private long transform;
  private long items;
  private long samples;
  private boolean ahead;
  private @Nullable BatchEvent event;

  BatchRecord(LongSupplier ids, long start) {
    this.ids = ids;
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
    return duration <= 0 ? 0 : Math.min(1.0, (double) fetch / duration);
  }

  /** Everything that was neither fetch, decode nor transform. */
  long other() {
    return Math.max(0, end - start - fetch - decode - transform);
  }

  void finish(long now, @Nullable Object source, Object batch, SpanRecorder recorder) {
    end = now;
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
