package io.coordl.profile;

import io.coordl.bridge.InterceptedCall;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Limits how many of the program's threads prepare a batch at the same time. Thread-safe. */
final class Gate {
  private static final int UNLIMITED = Integer.MAX_VALUE;

  private int permits = UNLIMITED;
  private final Set<Thread> inside = new HashSet<>();
  private final Queue<Thread> waiting = new ArrayDeque<>();

  /** Allows at most {@code newPermits} threads from now on; those inside stay. */
  synchronized void narrow(int newPermits) {
    permits = newPermits;
    notifyAll();
  }

  synchronized void open() {
    narrow(UNLIMITED);
  }

  /**
   * Allows no thread from now on. Waits until those inside have left, but at most {@code maxNanos},
   * because they may depend on the waiting thread. An interrupt ends the wait.
   */
  synchronized void close(long maxNanos) {
    narrow(0);
    long end = System.nanoTime() + maxNanos;
    long remaining = maxNanos;
    while (!inside.isEmpty() && remaining > 0) {
      try {
        TimeUnit.NANOSECONDS.timedWait(this, remaining);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // Keep the interrupt for the program.
        return;
      }
      remaining = end - System.nanoTime();
    }
  }

  /**
   * Waits for a turn, in the order of arrival: otherwise a thread that has just left could enter
   * again first, and later batches would be ready before earlier ones. Returns null if this thread
   * already has a turn. An interrupt ends the wait.
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
        own.interrupt(); // Keep the interrupt for the program, whose pool may be shutting down.
        break;
      }
    }
    waiting.remove(own);
    inside.add(own);
    notifyAll(); // The next waiting thread may be allowed to enter, too.
    return InterceptedCall.ending(this::leave);
  }

  private synchronized void leave() {
    inside.remove(Thread.currentThread());
    notifyAll();
  }
}
