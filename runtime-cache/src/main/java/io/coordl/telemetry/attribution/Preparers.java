package io.coordl.telemetry.attribution;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the threads that prepare batches ahead of the training thread, and the batches that they
 * have prepared. Batches prepared by a waiting training thread are not counted. Safe for concurrent
 * use.
 */
public final class Preparers {
  private final AtomicInteger busy = new AtomicInteger();
  private final AtomicInteger peak = new AtomicInteger();
  private final LongAdder batches = new LongAdder();

  /** Returns the peak number of batches in preparation at the same time. */
  public int peak() {
    return peak.get();
  }

  public long batches() {
    return batches.sum();
  }

  public int busy() {
    return busy.get();
  }

  void begin() {
    int now = busy.incrementAndGet();
    peak.accumulateAndGet(now, Math::max);
  }

  void end() {
    busy.decrementAndGet();
    batches.increment();
  }
}
