package io.coordl.partition;

import io.coordl.shared.Closeables;
import java.io.Closeable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * By when the other side of a connection must have moved. The thread that uses the connection sets
 * it and takes it back; once it passes, the {@link Watch} closes the connection, so that a blocked
 * read or write ends. It is either taken back in time or it passes, never both.
 */
public final class Deadline implements Watch.Watched {
  private static final long NONE = Long.MAX_VALUE;
  private static final long PASSED = Long.MIN_VALUE;

  private final AtomicLong at = new AtomicLong(NONE);
  private final Watch watch;
  private final Closeable connection;

  /** None yet. Stays with the watch until it is closed. */
  public Deadline(Watch watch, Closeable connection) {
    this.watch = watch;
    this.connection = connection;
    watch.add(this);
  }

  /** From now on there is one, instead of what there was; nothing changes if that has passed. */
  public void in(long nanos) {
    long before = at.get();
    if (before != PASSED) {
      at.compareAndSet(before, System.nanoTime() + nanos);
    }
  }

  /** From now on there is none; false if it has passed. */
  public boolean end() {
    long before = at.get();
    return before != PASSED && at.compareAndSet(before, NONE);
  }

  public boolean passed() {
    return at.get() == PASSED;
  }

  @Override
  public void look(long now) {
    long when = at.get();
    boolean set = when != NONE && when != PASSED;
    if (set && now - when >= 0 && at.compareAndSet(when, PASSED)) {
      close();
    }
  }

  /** Closes the connection, whatever it does at the moment. Any thread. */
  @Override
  public void close() {
    watch.remove(this);
    Closeables.closeQuietly(connection);
  }
}
