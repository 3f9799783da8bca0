package io.coordl.partition.redis;

import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** All open connections, and the daemon thread that closes those that are overdue. Thread-safe. */
final class RedisLinks implements Closeable {
  private static final long TICK_NANOS = 50_000_000L;

  private final @Nullable SSLContext tls;
  private final long patienceNanos;
  private final Set<WatchedSocket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Starts the thread.
   *
   * @param patience how long an answer may be missing on a thread of the program
   */
  RedisLinks(@Nullable SSLContext tls, Duration patience) {
    this.tls = tls;
    this.patienceNanos = patience.toNanos();
    new AgentThread("coordl-redis-watch", this::watch).start();
  }

  private void watch() {
    while (!closed) {
      LockSupport.parkNanos(this, TICK_NANOS);
      long now = System.nanoTime();
      try {
        for (WatchedSocket socket : sockets) {
          socket.closeIfOverdue(now);
        }
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e); // Nobody else would end what is late.
      }
    }
    for (WatchedSocket socket : sockets) {
      socket.closeQuietly();
    }
  }

  RedisLink open(RedisUri server, InetSocketAddress address, long patienceNanos)
      throws IOException {
    return RedisLink.open(server, address, tls, patienceNanos, sockets);
  }

  void discard(RedisLink link) {
    link.discard(sockets::remove);
  }

  long patienceNanos() {
    return patienceNanos;
  }

  boolean closed() {
    return closed;
  }

  /** Ends the thread, and with it all connections. */
  @Override
  public void close() {
    closed = true;
  }
}
