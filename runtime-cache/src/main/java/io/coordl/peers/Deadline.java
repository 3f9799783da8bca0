package io.coordl.peers;

import io.coordl.host.Closeables;
import java.io.Closeable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The time by which the other side of a connection must have responded. The thread that uses the
 * connection sets and clears it; once it passes, the {@link Watch} closes the connection, which
 * ends a blocked read or write. A deadline is either cleared or passes, never both.
 */
public final class Deadline implements Watch.Watched {
  private static final long NONE = Long.MAX_VALUE;
  private static final long PASSED = Long.MIN_VALUE;

  private final AtomicLong at = new AtomicLong(NONE);
  private final Watch watch;
  private final Closeable connection;

  /** Creates an unset deadline; the watch checks it until {@link #close}. */
  public Deadline(Watch watch, Closeable connection) {
    this.watch = watch;
    this.connection = connection;
    watch.add(this);
  }

  /** Sets or replaces the deadline; no effect if it has passed. */
  public void in(long nanos) {
    long previous = at.get();
    if (previous != PASSED) {
      at.compareAndSet(previous, System.nanoTime() + nanos);
    }
  }

  /** Clears the deadline; false if it has passed. */
  public boolean end() {
    long previous = at.get();
    return previous != PASSED && at.compareAndSet(previous, NONE);
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

  /** Closes the connection, even during a blocked read or write. May be called on any thread. */
  @Override
  public void close() {
    watch.remove(this);
    Closeables.closeQuietly(connection);
  }
}
