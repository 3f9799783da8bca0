package io.coordl.coordination;

import io.coordl.host.Uninterrupted;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;

/**
 * Admits threads to shared memory until the job leaves. After that the job must not write there,
 * because other jobs take over its slots and claims.
 */
final class Gate {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;

  /** Admits this thread, which must soon call {@link #exit}; false if the gate is closed. */
  boolean enter() {
    if (closed || !lock.readLock().tryLock()) {
      return false;
    }
    if (closed) {
      lock.readLock().unlock();
      return false;
    }
    return true;
  }

  void exit() {
    lock.readLock().unlock();
  }

  /** Runs the action inside; false, without running it, if the gate is closed. */
  boolean inside(Runnable action) {
    boolean entered = enter();
    if (entered) {
      try {
        action.run();
      } finally {
        exit();
      }
    }
    return entered;
  }

  /** Returns the supplier's value, evaluated inside; {@code closed} if the gate is closed. */
  int inside(IntSupplier supplier, int closed) {
    if (!enter()) {
      return closed;
    }
    try {
      return supplier.getAsInt();
    } finally {
      exit();
    }
  }

  boolean isOpen() {
    return !closed;
  }

  /** Like {@link #close}, but does not wait for the threads inside. */
  void shut() {
    closed = true;
  }

  /** Admits no more threads and waits for those inside; false if one stays inside too long. */
  boolean close() {
    closed = true;
    return Uninterrupted.await(
        PATIENCE_NANOS, nanos -> lock.writeLock().tryLock(nanos, TimeUnit.NANOSECONDS));
  }
}
