package io.coordl.bridge;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The agent's threads while they run code of the program, or of its library for it: to prepare a
 * batch or to decode an item ahead. After {@link Bridge#trip} none begins to, and the program waits
 * at its next rewritten call, boundedly, until those that are under way have come out. So nothing
 * of the agent uses what the program has closed, and code that expects one thread never runs on
 * two. Thread-safe.
 */
public final class Producers {
  /** What listeners hear of a file that cannot be told by a path; no file has this one. */
  public static final String UNKNOWN = "\0";

  /** Of a program that waits; whoever hangs in its code, perhaps for its locks, is left there. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final Set<Thread> INSIDE = ConcurrentHashMap.newKeySet();
  private static final Object LOCK = new Object();

  /** Who hears of the files that a thread opens. */
  private static final ThreadLocal<@Nullable Consumer<String>> LISTENERS = new ThreadLocal<>();

  private static volatile boolean off;
  private static volatile boolean hangs;

  private Producers() {}

  /**
   * A thread of the agent is about to run the program's code; false if it must not, since the agent
   * is switched off, else {@link #exit} is due, by the same thread.
   */
  public static boolean enter() {
    INSIDE.add(Thread.currentThread());
    if (off) {
      exit();
      return false;
    }
    return true;
  }

  /** It has come out, and uses nothing of the program any more. */
  public static void exit() {
    INSIDE.remove(Thread.currentThread());
    synchronized (LOCK) {
      LOCK.notifyAll();
    }
  }

  /**
   * From now on {@code opened} hears of each file that this thread is about to open by a rewritten
   * call, as the program wrote its path; null: nobody does.
   */
  public static void listen(@Nullable Consumer<String> opened) {
    LISTENERS.set(opened);
  }

  /** Who hears of the files that this thread opens; null if nobody does. */
  public static @Nullable Consumer<String> listener() {
    return LISTENERS.get();
  }

  /** This thread is about to open a file that cannot be told by a path. */
  static void opensUnknown() {
    opens(UNKNOWN);
  }

  /** This thread is about to open a file, or to get its content as if it had. */
  public static void opens(String path) {
    Consumer<String> listener = LISTENERS.get();
    if (listener != null) {
      listener.accept(path);
    }
  }

  /** Whether the agent is switched off, and threads that prepare are to end. */
  public static boolean areOff() {
    return off;
  }

  static void on() {
    off = false;
    hangs = false;
  }

  /** From now on none enters. */
  static void off() {
    off = true;
  }

  /** A call of a library, where nothing intercepts it: after a trip it waits for those inside. */
  static void awaitAfterTrip() {
    if (off) {
      awaitNone(PATIENCE_NANOS);
    }
  }

  /**
   * Waits until no other thread is inside; not if one hung there before. An interrupt neither ends
   * the wait nor is lost.
   */
  static void awaitNone(long nanos) {
    if (hangs || INSIDE.isEmpty() || INSIDE.contains(Thread.currentThread())) {
      return;
    }
    boolean interrupted = false;
    long deadline = System.nanoTime() + nanos;
    long left;
    synchronized (LOCK) {
      while (!INSIDE.isEmpty() && (left = deadline - System.nanoTime()) > 0) {
        try {
          LOCK.wait(left / 1_000_000 + 1);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      hangs = !INSIDE.isEmpty();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
