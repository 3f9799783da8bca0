package io.coordl.telemetry.recording;

import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.Batched;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.EventSink;
import io.coordl.telemetry.event.StepEvent;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import jdk.jfr.Event;

/**
 * Drops more and more events of single items, and finally of single batches, as a recording nears
 * its size limit. Totals, epochs and all other events are not dropped. Each time the remaining
 * space has halved, the share of events written drops to a quarter, so each half lasts twice as
 * long as the previous one. Thinning starts at half of the limit for items, and at seven eighths
 * for batches.
 *
 * <p>Decides for each batch whether to write the events of its items, and whether to write those of
 * the batch itself, so that the events of a batch can be joined. Any thread may write; one thread
 * checks the size.
 */
final class Thinning implements EventSink {
  private static final int MAX_HALVINGS = 15;

  /** Halvings by which batches are thinned later: they are ten to a thousand times rarer. */
  private static final int BATCHES_LATER = 2;

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final EventFile file;
  private final long maxBytes;
  private final AtomicLong others = new AtomicLong();
  private final LongAdder dropped = new LongAdder();
  private volatile int halvings;

  Thinning(EventFile file, long maxBytes) {
    this.file = file;
    this.maxBytes = maxBytes;
  }

  /** Checks how much space is left; called by the flushing thread. */
  void check() {
    long left = maxBytes - file.size();
    int seen = halvings;
    while (seen < MAX_HALVINGS && left <= maxBytes >> (seen + 1)) {
      seen++;
    }
    halvings = seen;
  }

  @Override
  public void write(Event event, long start, long end) {
    int now = halvings;
    if (now > 0 && event instanceof Batched batched && isDropped(batched, now)) {
      dropped.increment();
    } else {
      file.write(event, start, end);
    }
  }

  private boolean isDropped(Batched event, int halvings) {
    boolean isOfItem =
        !(event instanceof BatchEvent
            || event instanceof DataStallEvent
            || event instanceof StepEvent);
    int times = isOfItem ? halvings : halvings - BATCHES_LATER;
    if (times <= 0) {
      return false;
    }
    long number = event.batch != 0 ? event.batch : others.incrementAndGet();
    return (number * GOLDEN) >>> (Long.SIZE - 2 * times) != 0;
  }

  /** Returns the number of events dropped so far. */
  long leftOut() {
    return dropped.sum();
  }
}
