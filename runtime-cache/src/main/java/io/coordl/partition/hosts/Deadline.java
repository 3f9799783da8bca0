package io.coordl.partition.hosts;

import java.util.concurrent.atomic.AtomicLong;

/**
 * By when the other side has to have moved. Either it is taken back in time or it passes, never
 * both. Set and taken back by the thread that uses the connection, passed by the watch.
 */
final class Deadline {
  private static final long NONE = Long.MAX_VALUE;
  private static final long PASSED = Long.MIN_VALUE;

  private final AtomicLong at = new AtomicLong(NONE);
  private final Watch watch;

  Deadline(Watch watch) {
    this.watch = watch;
  }

  /** From now on there is one, instead of what there was; nothing changes if that has passed. */
  void in(long nanos) {
    long before = at.get();
    if (before != PASSED && at.compareAndSet(before, System.nanoTime() + nanos)) {
      watch.wake();
    }
  }

  /** From now on there is none; false if it has passed. */
  boolean end() {
    long before = at.get();
    return before != PASSED && at.compareAndSet(before, NONE);
  }

  boolean passed() {
    return at.get() == PASSED;
  }

  boolean set() {
    long when = at.get();
    return when != NONE && when != PASSED;
  }

  /** Whether it passes with this call. */
  boolean pass(long now) {
    long when = at.get();
    return when != NONE && when != PASSED && now - when >= 0 && at.compareAndSet(when, PASSED);
  }
}
