package io.coordl.coordination;

import io.coordl.host.Uninterrupted;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;

/**
 * Admits threads to shared memory until the job leaves. A job that has left must store nothing
 * there any more, because others take over its slots and claims.
 */
final class Gate {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;

  /** False if the gate is closed; otherwise the same thread must soon call {@link #exit}. */
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

  /** Evaluates the question inside; {@code closed} if the gate is closed. */
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
