package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import io.coordl.peers.PeerSink;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.RemoteHost;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
import io.coordl.peers.hosts.WireException.Kind;
import io.coordl.store.ArenaStore;
import io.coordl.telemetry.log.OnceLog;
import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Client of one peer. A failed request opens the peer's circuit breaker ({@link RemoteHost});
 * callers check {@link #isOut} first. Safe for concurrent use.
 */
final class PeerClient implements Closeable {
  /**
   * If less than this is left of a fetch's allowance for faults, another call is not worthwhile.
   */
  static final Duration MIN_WAIT = Duration.ofMillis(50);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(32);

  private final Member member;
  private final Common common;
  private final RemoteHost<Connection> host;

  /** Whether a protocol error of this peer has been logged. */
  private volatile boolean isRejected;

  /**
   * Settings shared by all peers of an engine.
   *
   * @param tls credentials with which peers authenticate each other
   * @param back receives each peer that answers again after a failure
   */
  record Common(
      SSLContext tls,
      String group,
      Watch watch,
      Timeouts timeouts,
      PeerSink sink,
      OnceLog log,
      Consumer<Member> back) {}

  PeerClient(Member member, Common common) {
    this.member = member;
    this.common = common;
    this.host = new RemoteHost<>(common.timeouts().probe(), MAX_PAUSE, false);
  }

  boolean isOut() {
    return host.isOut();
  }

  /**
   * A peer's reply.
   *
   * @param answer a constant of {@link Wire}; {@link #NOTHING} if there was no answer
   * @param bytes the item, if FOUND; null if this process has no memory for it
   * @param claim the connection that holds the claim, if GRANTED
   */
  @SuppressWarnings("ArrayRecordComponent") // Replies are never compared.
  record Reply(int answer, byte @Nullable [] bytes, @Nullable Connection claim) {
    static final int NOTHING = 0;
    static final Reply NONE = new Reply(NOTHING, null, null);
  }

  /**
   * Sends a request; returns {@link Reply#NONE} and marks the peer as down if there is no answer.
   *
   * @param patience time limit for connection, request and answer, in nanoseconds
   */
  Reply ask(int verb, ItemKey key, int length, long patience) {
    long start = System.nanoTime();
    for (Connection old = host.take(); ; old = null) {
      Connection connection = old;
      try {
        connection = old == null ? new Connection(member.data(), common, patience) : old;
        connection.ask(verb, key, length, patience);
        return read(connection, start, verb, length, patience);
      } catch (IOException | RuntimeException e) {
        boolean late = close(connection) || e instanceof SocketTimeoutException;
        if (old == null || late || e instanceof WireException) {
          fail(start, late, e);
          return Reply.NONE;
        }
        host.dropUnused(); // The peer may have restarted: retry with a new connection.
      }
    }
  }

  private Reply read(Connection connection, long start, int verb, int length, long patience)
      throws IOException {
    long left = start + patience - System.nanoTime();
    int answer = connection.answer(Math.max(MIN_WAIT.toNanos(), left));
    int following = connection.following();
    boolean bytes = answer == Wire.FOUND;
    boolean valid =
        switch (answer) {
          case Wire.FOUND, Wire.FULL, Wire.LATER, Wire.BUSY -> true;
          case Wire.ROOM -> verb == Wire.FIND;
          case Wire.GRANTED -> verb == Wire.CLAIM;
          default -> false;
        };
    if (!valid || following != (bytes ? length : 0)) {
      throw new WireException(
          Kind.MALFORMED,
          "it answered " + Integer.toHexString(answer) + " with " + following + " bytes");
    }
    byte[] item = null;
    if (bytes) {
      item = ArenaStore.buffer(following);
      if (item == null) {
        connection.close();
        return new Reply(answer, null, null);
      }
      connection.read(item, 0, following);
    }
    if (answer == Wire.GRANTED) {
      connection.claim();
      return new Reply(answer, null, connection);
    }
    connection.end();
    host.giveBack(connection);
    recordRequest(start, following, bytes ? Answer.FOUND : Answer.ABSENT);
    return new Reply(answer, item, null);
  }

  /** Closes the connection; true if it was late. */
  private static boolean close(@Nullable Connection connection) {
    if (connection != null) {
      connection.close();
    }
    return connection != null && connection.isLate();
  }

  /** Delivers a claimed item; true if the peer caches it. */
  boolean deliver(Connection claim, byte[] item) {
    long start = System.nanoTime();
    try {
      claim.deliver(item);
      int answer = claim.answer(common.timeouts().progress().toNanos());
      boolean kept = answer == Wire.KEPT;
      boolean valid = kept || answer == Wire.FULL || answer == Wire.LATER || answer == Wire.BUSY;
      if (!valid || claim.following() != 0) {
        throw new WireException(
            Kind.MALFORMED, "it answered " + Integer.toHexString(answer) + " to an item");
      }
      claim.end();
      host.giveBack(claim);
      recordRequest(start, item.length, kept ? Answer.KEPT : Answer.ABSENT);
      return kept;
    } catch (IOException | RuntimeException e) {
      fail(start, close(claim), e);
      return false;
    }
  }

  private void recordRequest(long start, long bytes, Answer answer) {
    common.sink().asked(member.name(), start, System.nanoTime(), bytes, answer);
  }

  private void fail(long start, boolean late, @Nullable Exception why) {
    if (host.closed()) {
      return;
    }
    recordRequest(start, 0, late ? Answer.LATE : Answer.FAILED);
    if (why instanceof WireException) {
      isRejected = true;
      common
          .log()
          .once(
              "rejected " + member.name(),
              "Host " + member.name() + " is not used for now: " + why.getMessage() + ".");
    }
    host.giveUp();
  }

  /** Closes idle connections, and probes a peer that is down. Called in the background. */
  void tend() {
    if (!host.tend()) {
      return;
    }
    boolean alive = alive(common.timeouts().progress());
    host.probed(alive);
    if (alive) {
      common.back().accept(member);
    } else if (host.hasLongBeenOut() && !isRejected) {
      common
          .log()
          .once(
              String.format(
                  "Host %s does not answer: the items it caches are read from storage until it"
                      + " does.",
                  member.name()));
    }
  }

  /**
   * Contacts a peer before the first request, so that class loading there does not make its first
   * answer late; {@code patience} limits each step.
   */
  void greet(Duration patience) {
    if (!alive(patience)) {
      common.log().once("Host " + member.name() + " has joined, but does not answer yet.");
    }
  }

  private boolean alive(Duration patience) {
    try {
      new Connection(member.data(), common, patience.toNanos()).close();
      return true;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  @Override
  public void close() {
    host.close();
  }
}
