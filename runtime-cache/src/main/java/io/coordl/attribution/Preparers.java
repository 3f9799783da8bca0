package io.coordl.attribution;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Threads that prepare batches ahead of the training thread: how many of them do so at once, and
 * how many batches they have made. A batch that a training thread makes while it waits is none of
 * these. Safe for concurrent use.
 */
public final class Preparers {
  private final AtomicInteger busy = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final LongAdder batches = new LongAdder();

  /** The most batches that were in the making at once. */
  public int most() {
    return most.get();
  }

  public long batches() {
    return batches.sum();
  }

  public int busy() {
    return busy.get();
  }

  void begin() {
    int now = busy.incrementAndGet();
    most.accumulateAndGet(now, Math::max);
  }

  void end() {
    busy.decrementAndGet();
    batches.increment();
  }
}
