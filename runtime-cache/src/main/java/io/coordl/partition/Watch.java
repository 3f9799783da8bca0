package io.coordl.partition;

import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that looks at connections some forty times a second, as long as any is in use: blocking
 * sockets have no timeout of their own for a write, and one of a read costs two system calls more.
 */
public final class Watch implements Closeable {
  public interface Watched extends Closeable {
    /** Must not block; whether it is in use. */
    boolean look(long now);

    @Override
    default void close() {}
  }

  private static final Duration TICK = Duration.ofMillis(25);

  /**
   * If a tick is this late, the JVM itself was paused: what others said meanwhile is heard before
   * they are called late.
   */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** So many looks in vain, and the thread sleeps until something is in use. */
  private static final int LOOKS_IN_VAIN = 40;

  private final Set<Watched> all = ConcurrentHashMap.newKeySet();
  private final Thread thread;
  private volatile boolean asleep;
  private volatile boolean closed;

  public Watch(String thread) {
    this.thread = new AgentThread(thread, this::run);
    this.thread.start();
  }

  public void add(Watched watched) {
    all.add(watched);
    if (closed) {
      watched.close();
    }
  }

  public void remove(Watched watched) {
    all.remove(watched);
  }

  /** To be called after something has come into use. */
  public void wake() {
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    int inVain = 0;
    boolean skipped = false;
    long before = System.nanoTime();
    while (!closed) {
      long now = System.nanoTime();
      skipped = !skipped && now - before > PAUSE.toNanos();
      before = now;
      inVain = skipped || look() ? 0 : inVain + 1;
      if (inVain < LOOKS_IN_VAIN) {
        LockSupport.parkNanos(this, TICK.toNanos());
      } else {
        asleep = true; // Before the look: who comes into use after it sees this.
        if (!closed && !look()) {
          LockSupport.park(this);
        }
        asleep = false;
        inVain = 0;
        before = System.nanoTime();
      }
    }
    all.forEach(Watched::close);
  }

  private boolean look() {
    boolean inUse = false;
    for (Watched watched : all) {
      try {
        inUse |= watched.look(System.nanoTime());
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e); // Nobody else would end what is late.
        inUse = true;
      }
    }
    return inUse;
  }

  /** Closes all that is looked at, too: nobody would cut it off any more. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
