package io.coordl.bridge;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tracks agent threads while they run code of the program or its libraries to prepare a batch or to
 * decode an item in advance. After {@link Bridge#trip} no agent thread enters such code, and the
 * program's next intercepted library call waits, for a bounded time, until those inside have left.
 * Thus the agent does not use resources that the program has closed, and single-threaded code does
 * not run on two threads. Thread-safe.
 */
public final class Producers {
  /** Passed to listeners for a file whose path the agent cannot tell; no file has this path. */
  public static final String UNKNOWN = "\0";

  /**
   * Maximum wait of the program; a thread that hangs in the program's code, perhaps on a lock, is
   * abandoned.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final Set<Thread> INSIDE = ConcurrentHashMap.newKeySet();
  private static final Object LOCK = new Object();

  /** Each thread's listener for the files that it opens. */
  private static final ThreadLocal<@Nullable Consumer<String>> LISTENERS = new ThreadLocal<>();

  private static volatile boolean off;
  private static volatile boolean hangs;

  private Producers() {}

  /**
   * Called before an agent thread runs the program's code. False if it must not, because the agent
   * is off; otherwise the same thread must call {@link #exit}.
   */
  public static boolean enter() {
    INSIDE.add(Thread.currentThread());
    if (off) {
      exit();
      return false;
    }
    return true;
  }

  /** Called once the thread has left the program's code and no longer uses its objects. */
  public static void exit() {
    INSIDE.remove(Thread.currentThread());
    synchronized (LOCK) {
      LOCK.notifyAll();
    }
  }

  /**
   * Sets the listener that receives the path of each file, as the program passed it, before this
   * thread opens it through a rewritten call; null for none.
   */
  public static void listen(@Nullable Consumer<String> opened) {
    LISTENERS.set(opened);
  }

  /** Returns the listener for the files that this thread opens; null if none. */
  public static @Nullable Consumer<String> listener() {
    return LISTENERS.get();
  }

  /** Called before this thread opens a file whose path the agent cannot tell. */
  static void opensUnknown() {
    opens(UNKNOWN);
  }

  /** Called before this thread opens a file or gets its cached content. */
  public static void opens(String path) {
    Consumer<String> listener = LISTENERS.get();
    if (listener != null) {
      listener.accept(path);
    }
  }

  /** Whether the agent is off; preparing threads must then end. */
  public static boolean areOff() {
    return off;
  }

  static void on() {
    off = false;
    hangs = false;
  }

  /** Stops threads from entering. */
  static void off() {
    off = true;
  }

  /**
   * Waits, after a trip, for the threads inside. Called where a library call is no longer
   * intercepted.
   */
  public static void awaitAfterTrip() {
    if (off) {
      awaitNone(PATIENCE_NANOS);
    }
  }

  /**
   * Waits at most this long until no thread is inside. Does not wait if a thread has hung there
   * before, or if this thread is inside. An interrupt does not end the wait and is not lost.
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
