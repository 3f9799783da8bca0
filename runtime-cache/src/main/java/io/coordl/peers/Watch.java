package io.coordl.peers;

import io.coordl.host.AgentThread;
import java.io.Closeable;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that checks connections forty times a second: blocking sockets have no write timeout,
 * and a read timeout costs two more system calls.
 */
public final class Watch implements Closeable {
  public interface Watched extends Closeable {
    /** Must not block. */
    void look(long now);

    @Override
    default void close() {}
  }

  private static final Duration TICK = Duration.ofMillis(25);

  /**
   * If a tick is this late, the JVM itself was paused: skip a tick so that pending input is read
   * before any connection is declared late.
   */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Set<Watched> all = ConcurrentHashMap.newKeySet();
  private final Thread thread;
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

  private void run() {
    boolean skipped = false;
    long previous = System.nanoTime();
    while (!closed) {
      long now = System.nanoTime();
      skipped = !skipped && now - previous > PAUSE.toNanos();
      previous = now;
      if (!skipped) {
        look();
      }
      LockSupport.parkNanos(this, TICK.toNanos());
    }
    all.forEach(Watched::close);
  }

  private void look() {
    for (Watched watched : all) {
      try {
        watched.look(System.nanoTime());
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e); // Only this thread ends late connections.
      }
    }
  }

  /** Also closes all watched connections, because their deadlines would no longer apply. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
