package io.coordl.peers;

import io.coordl.host.Closeables;
import java.io.Closeable;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * A client's view of another host: its idle connections, and a circuit breaker, which is the
 * failure detector of both engines. The first late or failed request opens the breaker; no program
 * thread then sends a request to the host until a background probe gets an answer. If a host soon
 * fails again, the pause before the next probe doubles. Safe for concurrent use.
 *
 * @param <C> type of a connection
 */
public final class RemoteHost<C extends Closeable> implements Closeable {
  private static final int MAX_UNUSED = 16;
  private static final Duration UNUSED = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofSeconds(30);

  private final Duration probe;
  private final Duration longestPause;
  private final ConcurrentLinkedDeque<Unused<C>> unused = new ConcurrentLinkedDeque<>();
  private volatile boolean out;
  private volatile boolean closed;

  // State of the breaker, guarded by this.
  private Duration pause;
  private long outSince;
  private long nextProbe = System.nanoTime();
  private long backSince = System.nanoTime() - SOON.toNanos();

  private record Unused<C>(C connection, long since) {}

  /**
   * Creates the view of a host that has received no request yet.
   *
   * @param probe usual pause between two probes
   * @param longestPause longest pause between two probes of a host that fails repeatedly
   * @param out whether the host must answer a probe before it receives requests
   */
  public RemoteHost(Duration probe, Duration longestPause, boolean out) {
    this.probe = probe;
    this.longestPause = longestPause;
    this.pause = probe;
    this.out = out;
  }

  /** Whether the breaker is open: the host receives no requests for now. */
  public boolean isOut() {
    return out;
  }

  public boolean closed() {
    return closed;
  }

  /** Takes an idle connection; null if there is none. */
  public @Nullable C take() {
    Unused<C> newest = unused.pollFirst();
    return newest == null ? null : newest.connection();
  }

  /** Puts a connection that is still usable back among the idle ones. */
  public void giveBack(C connection) {
    unused.addFirst(new Unused<>(connection, System.nanoTime()));
    if (unused.size() > MAX_UNUSED) {
      close(unused.pollLast());
    }
    if (closed || out) {
      dropUnused();
    }
  }

  /** Closes all idle connections; after a restart of the host they would fail. */
  public void dropUnused() {
    for (Unused<C> old = unused.pollFirst(); old != null; old = unused.pollFirst()) {
      close(old);
    }
  }

  /** Reports a late or failed request; true if this opens the breaker. */
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
      nextProbe = now + pause.toNanos();
      out = true;
    }
    dropUnused();
    return true;
  }

  /**
   * Closes connections that have long been idle; true if a probe is due. Called in the background.
   */
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
      return out && now - nextProbe >= 0;
    }
  }

  /** Reports the result of a probe; closes the breaker if the host is alive. */
  public synchronized void probed(boolean alive) {
    if (alive) {
      backSince = System.nanoTime();
      out = false;
    } else {
      nextProbe = System.nanoTime() + pause.toNanos();
    }
  }

  /** Whether the breaker has been open for at least twice the usual pause between probes. */
  public synchronized boolean hasLongBeenOut() {
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
