package io.coordl.staging;

import io.coordl.thread.Uninterrupted;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;

/**
 * Lets threads into shared memory until the job leaves: a job that is told to have left must store
 * nothing there any more, as others take what was its.
 */
final class Gate {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;

  /** False if the gate is closed; else {@link #exit} is due, by the same thread, and soon. */
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

  /** Runs it inside; false, and it was not run, if the gate is closed. */
  boolean inside(Runnable action) {
    boolean open = enter();
    if (open) {
      try {
        action.run();
      } finally {
        exit();
      }
    }
    return open;
  }

  /** What it says inside; {@code closed} if the gate is. */
  int inside(IntSupplier question, int closed) {
    if (!enter()) {
      return closed;
    }
    try {
      return question.getAsInt();
    } finally {
      exit();
    }
  }

  boolean isOpen() {
    return !closed;
  }

  /** As {@link #close}, but does not wait for the threads inside. */
  void shut() {
    closed = true;
  }

  /** Lets no thread in any more; false if one does not come out. */
  boolean close() {
    closed = true;
    return Uninterrupted.await(
        PATIENCE_NANOS, nanos -> lock.writeLock().tryLock(nanos, TimeUnit.NANOSECONDS));
  }
}
