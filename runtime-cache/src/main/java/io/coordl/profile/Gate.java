package io.coordl.profile;

import io.coordl.bridge.LibraryCall;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How many of the program's threads may prepare a batch at once. Thread-safe. */
final class Gate {
  private static final int ALL = Integer.MAX_VALUE;

  private int permits = ALL;
  private int inside;

  /** At most so many from now on; those inside stay. */
  synchronized void narrow(int newPermits) {
    permits = newPermits;
    notifyAll();
  }

  /** Any number. */
  synchronized void open() {
    narrow(ALL);
  }

  /**
   * None from now on; waits until those inside have left, at most so long, as they may be held up
   * by the very thread that waits. An interrupt ends the wait.
   */
  synchronized void close(long mostNanos) {
    narrow(0);
    long end = System.nanoTime() + mostNanos;
    long left = mostNanos;
    while (inside > 0 && left > 0) {
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // The program's, for later.
        return;
      }
      left = end - System.nanoTime();
    }
  }

  /** Waits for a turn; null if there is nothing to give back. An interrupt ends the wait. */
  synchronized @Nullable LibraryCall enter() {
    while (inside >= permits) {
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // The program's: its pool may be shutting down.
        break;
      }
    }
    inside++;
    return new Turn();
  }

  private synchronized void leave() {
    inside--;
    notifyAll();
  }

  private final class Turn extends LibraryCall {
    @Override
    public boolean answered() {
      return false;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      leave();
      return own;
    }

    @Override
    public void failed() {
      leave();
    }
  }
}
