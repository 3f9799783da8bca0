package io.coordl.partition;

import io.coordl.shared.Closeables;
import java.io.Closeable;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * Another host as a client sees it: connections that wait for use, and the breaker, which is the
 * failure detector of both engines. The first question that is late or fails gives the host up;
 * from then on no thread of the program asks it, until a look from the background gets an answer. A
 * host that is soon given up again is looked at less and less often. Safe for concurrent use.
 *
 * @param <C> a connection
 */
public final class RemoteHost<C extends Closeable> implements Closeable {
  private static final int MOST_UNUSED = 16;
  private static final Duration UNUSED = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofSeconds(30);

  private final Duration probe;
  private final Duration longestPause;
  private final ConcurrentLinkedDeque<Unused<C>> unused = new ConcurrentLinkedDeque<>();
  private volatile boolean out;
  private volatile boolean closed;

  // Of the breaker, guarded by this.
  private Duration pause;
  private long outSince;
  private long lookFrom = System.nanoTime();
  private long backSince = System.nanoTime() - SOON.toNanos();

  private record Unused<C>(C connection, long since) {}

  /**
   * A host that nobody has asked yet.
   *
   * @param probe the usual pause between two looks
   * @param longestPause between two looks at one that is given up again and again
   * @param out whether it must have answered a look before it is asked
   */
  public RemoteHost(Duration probe, Duration longestPause, boolean out) {
    this.probe = probe;
    this.longestPause = longestPause;
    this.pause = probe;
    this.out = out;
  }

  /** Whether it is given up, for now. */
  public boolean out() {
    return out;
  }

  public boolean closed() {
    return closed;
  }

  /** A connection that waits for use, if there is one. */
  public @Nullable C take() {
    Unused<C> newest = unused.pollFirst();
    return newest == null ? null : newest.connection();
  }

  /** Keeps a connection that is as good as before. */
  public void giveBack(C connection) {
    unused.addFirst(new Unused<>(connection, System.nanoTime()));
    if (unused.size() > MOST_UNUSED) {
      close(unused.pollLast());
    }
    if (closed || out) {
      dropUnused();
    }
  }

  /** Closes all connections that wait: the host may have been started anew since. */
  public void dropUnused() {
    for (Unused<C> old = unused.pollFirst(); old != null; old = unused.pollFirst()) {
      close(old);
    }
  }

  /** It was late or failed; whether that gives it up, now. */
  public boolean giveUp() {
    synchronized (this) {
      if (out) {
        return false;
      }
      long now = System.nanoTime();
      boolean again = now - backSince < SOON.toNanos();
      Duration twice = pause.multipliedBy(2);
      pause = !again ? probe : twice.compareTo(longestPause) < 0 ? twice : longestPause;
      outSince = now;
      lookFrom = now + pause.toNanos();
      out = true;
    }
    dropUnused();
    return true;
  }

  /** From the background: closes what nobody has used for long; whether a look is due. */
  public boolean tend() {
    long now = System.nanoTime();
    Unused<C> oldest = unused.peekLast();
    while (oldest != null && now - oldest.since() > UNUSED.toNanos()) {
      if (unused.removeLastOccurrence(oldest)) {
        close(oldest);
      }
      oldest = unused.peekLast();
    }
    synchronized (this) {
      return out && now - lookFrom >= 0;
    }
  }

  public synchronized void looked(boolean alive) {
    if (alive) {
      backSince = System.nanoTime();
      out = false;
    } else {
      lookFrom = System.nanoTime() + pause.toNanos();
    }
  }

  /** Whether it is out for longer than a host that is only late once. */
  public synchronized boolean silent() {
    return out && System.nanoTime() - outSince >= 2 * probe.toNanos();
  }

  private void close(@Nullable Unused<C> old) {
    Closeables.closeQuietly(old == null ? null : old.connection());
  }

  @Override
  public void close() {
    closed = true;
    dropUnused();
  }
}
