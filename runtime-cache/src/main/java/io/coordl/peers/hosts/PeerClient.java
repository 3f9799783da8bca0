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
 * Client of one peer; asks it only while {@link RemoteHost} considers it up. Safe for concurrent
 * use.
 */
final class PeerClient implements Closeable {
  /** With less than this left of a fetch's allowance for faults, another call is not worthwhile. */
  static final Duration SHORTEST = Duration.ofMillis(50);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(32);

  private final Member member;
  private final Common common;
  private final RemoteHost<Connection> host;
  private volatile boolean stranger;

  /**
   * Settings shared by all peers of an engine.
   *
   * @param tls credentials with which peers authenticate each other
   * @param back receives each peer that had failed and answers again
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
    this.host = new RemoteHost<>(common.timeouts().probe(), LONGEST_PAUSE, false);
  }

  boolean out() {
    return host.out();
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
   * @param patience time limit for connecting, asking and the answer, in nanoseconds
   */
  Reply ask(int verb, ItemKey key, int length, long patience) {
    long start = System.nanoTime();
    for (Connection old = host.take(); ; old = null) {
      Connection asked = old;
      try {
        asked = old == null ? new Connection(member.data(), common, patience) : old;
        asked.ask(verb, key, length, patience);
        return read(asked, start, verb, length, patience);
      } catch (IOException | RuntimeException e) {
        boolean late = close(asked) || e instanceof SocketTimeoutException;
        if (old == null || late || e instanceof WireException) {
          fail(start, late, e);
          return Reply.NONE;
        }
        host.dropUnused(); // The peer may have restarted: retry with a new connection.
      }
    }
  }

  private Reply read(Connection asked, long start, int verb, int length, long patience)
      throws IOException {
    long left = start + patience - System.nanoTime();
    int answer = asked.answer(Math.max(SHORTEST.toNanos(), left));
    int following = asked.following();
    boolean bytes = answer == Wire.FOUND;
    boolean known =
        switch (answer) {
          case Wire.FOUND, Wire.FULL, Wire.LATER, Wire.BUSY -> true;
          case Wire.ROOM -> verb == Wire.FIND;
          case Wire.GRANTED -> verb == Wire.CLAIM;
          default -> false;
        };
    if (!known || following != (bytes ? length : 0)) {
      throw new WireException(
          Kind.MALFORMED,
          "it answered " + Integer.toHexString(answer) + " with " + following + " bytes");
    }
    byte[] item = null;
    if (bytes) {
      item = ArenaStore.buffer(following);
      if (item == null) {
        asked.close();
        return new Reply(answer, null, null);
      }
      asked.read(item, 0, following);
    }
    if (answer == Wire.GRANTED) {
      asked.claim();
      return new Reply(answer, null, asked);
    }
    asked.end();
    host.giveBack(asked);
    heard(start, following, bytes ? Answer.FOUND : Answer.ABSENT);
    return new Reply(answer, item, null);
  }

  /** Closes the connection; true if it was late. */
  private static boolean close(@Nullable Connection connection) {
    if (connection != null) {
      connection.close();
    }
    return connection != null && connection.late();
  }

  /** Delivers a claimed item; true if the peer keeps it. */
  boolean deliver(Connection claim, byte[] item) {
    long start = System.nanoTime();
    try {
      claim.deliver(item);
      int answer = claim.answer(common.timeouts().progress().toNanos());
      boolean kept = answer == Wire.KEPT;
      boolean known = kept || answer == Wire.FULL || answer == Wire.LATER || answer == Wire.BUSY;
      if (!known || claim.following() != 0) {
        throw new WireException(
            Kind.MALFORMED, "it answered " + Integer.toHexString(answer) + " to an item");
      }
      claim.end();
      host.giveBack(claim);
      heard(start, item.length, kept ? Answer.KEPT : Answer.ABSENT);
      return kept;
    } catch (IOException | RuntimeException e) {
      fail(start, close(claim), e);
      return false;
    }
  }

  private void heard(long start, long bytes, Answer answer) {
    common.sink().asked(member.name(), start, System.nanoTime(), bytes, answer);
  }

  private void fail(long start, boolean late, @Nullable Exception why) {
    if (host.closed()) {
      return;
    }
    heard(start, 0, late ? Answer.LATE : Answer.FAILED);
    if (why instanceof WireException) {
      stranger = true;
      common
          .log()
          .once(
              "stranger " + member.name(),
              "Host " + member.name() + " is not asked for items: " + why.getMessage() + ".");
    }
    host.giveUp();
  }

  /** Closes idle connections, and probes a peer that is down. Called in the background. */
  void tend() {
    if (!host.tend()) {
      return;
    }
    boolean alive = alive(common.timeouts().progress());
    host.looked(alive);
    if (alive) {
      common.back().accept(member);
    } else if (host.silent() && !stranger) {
      common
          .log()
          .once(
              String.format(
                  "Host %s does not answer: the items it keeps are read from storage until it"
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
