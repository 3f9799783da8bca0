package io.coordl.profile;

import io.coordl.bridge.InterceptedCall;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How many of the program's threads may prepare a batch at once. Thread-safe. */
final class Gate {
  private static final int ALL = Integer.MAX_VALUE;

  private int permits = ALL;
  private final Set<Thread> inside = new HashSet<>();
  private final Queue<Thread> waiting = new ArrayDeque<>();

  /** At most so many from now on; those inside stay. */
  synchronized void narrow(int newPermits) {
    permits = newPermits;
    notifyAll();
  }

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
    while (!inside.isEmpty() && left > 0) {
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // The program's, for later.
        return;
      }
      left = end - System.nanoTime();
    }
  }

  /**
   * Waits for a turn, in the order of arrival: a thread that has just had one would else be the
   * next again, and later batches be ready before earlier ones. Null if there is nothing to give
   * back, as this thread has a turn already. An interrupt ends the wait.
   */
  synchronized @Nullable InterceptedCall enter() {
    Thread own = Thread.currentThread();
    if (inside.contains(own)) {
      return null;
    }
    waiting.add(own);
    while (inside.size() >= permits || waiting.peek() != own) {
      try {
        wait();
      } catch (InterruptedException e) {
        own.interrupt(); // The program's: its pool may be shutting down.
        break;
      }
    }
    waiting.remove(own);
    inside.add(own);
    notifyAll(); // There may be room for the next one, too.
    return InterceptedCall.ending(this::leave);
  }

  private synchronized void leave() {
    inside.remove(Thread.currentThread());
    notifyAll();
  }
}
