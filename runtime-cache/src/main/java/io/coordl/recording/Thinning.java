package io.coordl.recording;

import io.coordl.event.BatchEvent;
import io.coordl.event.Batched;
import io.coordl.event.DataStallEvent;
import io.coordl.event.EventSink;
import io.coordl.event.StepEvent;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import jdk.jfr.Event;

/**
 * Leaves out more and more of the events of single items, and in the end of single batches, as a
 * recording nears its bound; totals, epochs and all else are always written. Each time that what is
 * left has halved, a quarter as many are written as before, so each half lasts twice as long as the
 * one before it. Items are thinned from half of the bound on, batches from seven eighths.
 *
 * <p>Of a batch all events are written or none, so that those that are there can be joined. Any
 * thread may write; one looks.
 */
final class Thinning implements EventSink {
  private static final int MOST_HALVINGS = 15;

  /** Batches are fewer than items by a factor of ten, or a thousand. */
  private static final int BATCHES_LATER = 2;

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final EventFile file;
  private final long most;
  private final AtomicLong others = new AtomicLong();
  private final LongAdder leftOut = new LongAdder();
  private volatile int halvings;

  Thinning(EventFile file, long most) {
    this.file = file;
    this.most = most;
  }

  /** From the flushing thread: looks how much is left. */
  void look() {
    long left = most - file.size();
    int seen = halvings;
    while (seen < MOST_HALVINGS && left <= most >> (seen + 1)) {
      seen++;
    }
    halvings = seen;
  }

  @Override
  public void write(Event event, long start, long end) {
    int now = halvings;
    if (now > 0 && event instanceof Batched one && leavesOut(one, now)) {
      leftOut.increment();
    } else {
      file.write(event, start, end);
    }
  }

  private boolean leavesOut(Batched event, int halvings) {
    boolean single =
        !(event instanceof BatchEvent
            || event instanceof DataStallEvent
            || event instanceof StepEvent);
    int times = single ? halvings : halvings - BATCHES_LATER;
    if (times <= 0) {
      return false;
    }
    long number = event.batch != 0 ? event.batch : others.incrementAndGet();
    return (number * GOLDEN) >>> (Long.SIZE - 2 * times) != 0;
  }

  /** How many events were left out so far. */
  long leftOut() {
    return leftOut.sum();
  }
}
