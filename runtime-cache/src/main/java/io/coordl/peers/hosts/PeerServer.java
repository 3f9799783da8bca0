package io.coordl.peers.hosts;

import io.coordl.host.AgentThread;
import io.coordl.host.Closeables;
import io.coordl.items.ItemKey;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
import io.coordl.store.ArenaStore;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;

/**
 * Serves the items of this host's store to other hosts, by key and length only: it opens no file
 * and knows no path. Each connection has a thread; the number of connections is limited, and beyond
 * the limit the least recently used one is closed, if possible an idle one. Safe for concurrent
 * use.
 */
public final class PeerServer implements Closeable {
  private static final int MAX_CONNECTIONS = 1024;
  private static final int MAX_STRANGERS = 64;
  private static final int BACKLOG = 256;

  /**
   * Maximum bytes of items in transit to the store, over all connections; they occupy the program's
   * heap.
   */
  private static final long MAX_INCOMING_BYTES = 64L << 20;

  private static final Duration ACCEPT_RETRY = Duration.ofMillis(100);
  private static final Duration LEAVE = Duration.ofSeconds(2);

  private final ServerSocketChannel listening;
  private final InetSocketAddress address;
  final ArenaStore store;
  final SSLContext tls;
  final String group;
  private final OnceLog log;
  final Timeouts timeouts;
  final Watch watch;
  private final Thread accepting;
  final Set<PeerSession> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicLong incoming = new AtomicLong();
  private volatile boolean closed;

  /**
   * Listens only at {@code bind}.
   *
   * @param store closed by the caller, after this server
   * @param tls credentials with which peers authenticate each other
   * @param group name of the group of jobs; others are not served
   * @throws IOException with a sentence for the user if the address is not available
   */
  public PeerServer(
      InetSocketAddress bind,
      ArenaStore store,
      SSLContext tls,
      String group,
      UserLog userLog,
      Timeouts timeouts)
      throws IOException {
    this.store = store;
    this.tls = tls;
    this.group = group;
    this.log = new OnceLog(userLog);
    this.timeouts = timeouts;
    listening = ServerSocketChannel.open();
    try {
      listening.bind(bind, BACKLOG);
      address = (InetSocketAddress) listening.getLocalAddress();
    } catch (IOException | RuntimeException e) {
      listening.close();
      String why = bind.isUnresolved() ? "unknown host" : e.getMessage();
      throw new IOException("Items cannot be served at " + text(bind) + " (" + why + ").", e);
    }
    watch = new Watch("coordl-peer-watch");
    accepting = new AgentThread("coordl-peer-accept", this::accept);
    accepting.start();
  }

  private static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  public InetSocketAddress address() {
    return address;
  }

  /** Returns the {@link Wire} answer for an item that the store does not have. */
  static int absent(ArenaStore store, ItemKey key, int length) {
    if (store.isAwaited(key)) {
      return Wire.BUSY;
    }
    return store.hasRoom(length) ? Wire.ROOM : noRoom(store, length);
  }

  /** Returns the {@link Wire} answer of a store that does not admit an item. */
  static int noRoom(ArenaStore store, int length) {
    return store.isFull(length) ? Wire.FULL : Wire.LATER;
  }

  // ---- connections

  private void accept() {
    while (!closed) {
      try {
        serve(listening.accept());
      } catch (IOException | OutOfMemoryError e) {
        // No descriptor or thread is left; the program may free some.
        if (!closed) {
          LockSupport.parkNanos(this, ACCEPT_RETRY.toNanos());
        }
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
    }
  }

  private void serve(SocketChannel channel) throws IOException {
    PeerSession session;
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      makeRoom(MAX_STRANGERS, one -> one.stranger);
      makeRoom(MAX_CONNECTIONS, any -> true);
      session = new PeerSession(channel, this);
      sessions.add(session);
      session.start();
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      channel.close();
      throw e;
    }
    if (closed) {
      session.close();
    }
  }

  /** Closes the least useful of these connections if there are {@code max} or more of them. */
  private void makeRoom(int max, Predicate<PeerSession> these) {
    if (sessions.stream().filter(these).count() >= max) {
      sessions.stream()
          .filter(these)
          .min(
              Comparator.comparing((PeerSession one) -> one.busy).thenComparing(one -> one.lastUse))
          .ifPresent(
              least -> {
                least.close();
                sessions.remove(least);
              });
    }
  }

  /** Logs why a connection was closed, once per kind of reason. */
  void refused(PeerSession session, String kind, String why) {
    if (!closed) {
      log.once(
          kind, "A connection from " + session.remote + " was closed: " + why + ". (Logged once.)");
    }
  }

  /** Reserves heap space for an incoming item; false if there is none for now. */
  boolean takeRoom(int length) {
    long before = incoming.getAndAdd(length);
    if (before > 0 && before + length > MAX_INCOMING_BYTES) {
      incoming.addAndGet(-length);
      return false;
    }
    return true;
  }

  void giveRoom(int length) {
    incoming.addAndGet(-length);
  }

  /** Stops serving: closes all connections and waits briefly for their threads. Does not throw. */
  @Override
  public void close() {
    closed = true;
    Closeables.closeQuietly(listening);
    long end = System.nanoTime() + LEAVE.toNanos();
    for (PeerSession session : sessions) {
      session.close();
    }
    while ((accepting.isAlive() || !sessions.isEmpty()) && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(this, 1_000_000);
    }
    watch.close();
  }
}
