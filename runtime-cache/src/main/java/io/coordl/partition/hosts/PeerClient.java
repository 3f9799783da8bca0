package io.coordl.partition.hosts;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.ItemKey;
import io.coordl.log.OnceLog;
import io.coordl.partition.PeerSink;
import io.coordl.partition.PeerSink.Answer;
import io.coordl.partition.RemoteHost;
import io.coordl.partition.Timeouts;
import io.coordl.partition.Watch;
import io.coordl.partition.hosts.WireException.Kind;
import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Asks one peer, unless that is given up ({@link RemoteHost}). Safe for concurrent use. */
final class PeerClient implements Closeable {
  /** Of a fetch's allowance for faults, less than this is not worth another call. */
  static final Duration SHORTEST = Duration.ofMillis(50);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(32);

  private final Member member;
  private final Common common;
  private final RemoteHost<Connection> host;
  private volatile boolean stranger;

  /**
   * What the peers of an engine have in common.
   *
   * @param tls null to speak in the clear
   * @param back hears of a peer that was given up and answers again
   */
  record Common(
      @Nullable PeerTls tls,
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
   * What came back.
   *
   * @param answer as of {@link Wire}; {@link #NOTHING} if there was none
   * @param bytes the item, if it was FOUND; null if this process has no memory for it
   * @param claim the connection that holds the claim, if it was GRANTED
   */
  @SuppressWarnings("ArrayRecordComponent") // Nobody compares replies.
  record Reply(int answer, byte @Nullable [] bytes, @Nullable Connection claim) {
    static final int NOTHING = 0;
    static final Reply NONE = new Reply(NOTHING, null, null);
  }

  /** Asks without waiting for the answer, but for a connection if none is unused. */
  Question begin(int verb, ItemKey key, int length, long patience) {
    Question question = new Question(verb, key, length, patience);
    question.begin(host.take());
    return question;
  }

  /** A question under way, of one thread. */
  final class Question {
    private final int verb;
    private final ItemKey key;
    private final int length;
    private final long patience;
    private final long start = System.nanoTime();
    private @Nullable Connection connection;

    private boolean fresh;

    private @Nullable Exception failure;

    private Question(int verb, ItemKey key, int length, long patience) {
      this.verb = verb;
      this.key = key;
      this.length = length;
      this.patience = patience;
    }

    private void begin(@Nullable Connection old) {
      connection = old;
      fresh = old == null;
      failure = null;
      try {
        Connection asked = old == null ? new Connection(member.data(), common, patience) : old;
        connection = asked;
        asked.ask(verb, key, length, patience);
      } catch (IOException | RuntimeException e) {
        failure = e;
      }
    }

    /** Whether there is no answer to wait for. */
    boolean failed() {
      return failure != null;
    }

    /**
     * The answer; {@link Reply#NONE}, and the peer given up, if there is none. Where several are
     * asked at once, one that has answered while another was waited for is not late.
     */
    Reply answer() {
      Connection asked = connection;
      if (failure == null && asked != null) {
        try {
          return read(asked);
        } catch (IOException | RuntimeException e) {
          failure = e;
        }
      }
      boolean late = close(asked) || failure instanceof SocketTimeoutException;
      if (!fresh && !late && !(failure instanceof WireException)) {
        host.dropUnused(); // Of a peer that was there before: maybe it is there again.
        begin(null);
        return answer();
      }
      fail(start, late, failure);
      return Reply.NONE;
    }

    private Reply read(Connection asked) throws IOException {
      long left = start + patience - System.nanoTime();
      int answer = asked.answer(Math.max(SHORTEST.toNanos(), left));
      int following = asked.following();
      boolean bytes = answer == Wire.FOUND && verb != Wire.LOOK;
      boolean known =
          switch (answer) {
            case Wire.FOUND -> bytes;
            case Wire.HAVE -> verb == Wire.LOOK;
            case Wire.ROOM -> verb != Wire.CLAIM;
            case Wire.FULL, Wire.BUSY -> true;
            case Wire.GRANTED -> verb == Wire.CLAIM;
            default -> false;
          };
      if (!known || following != (bytes ? length : 0)) {
        throw new WireException(
            Kind.MALFORMED,
            "it answers " + Integer.toHexString(answer) + " with " + following + " bytes");
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
      heard(start, bytes ? following : 0, bytes ? Answer.FOUND : Answer.ABSENT);
      return new Reply(answer, item, null);
    }
  }

  /** Whether it was late. */
  private static boolean close(@Nullable Connection connection) {
    if (connection != null) {
      connection.close();
    }
    return connection != null && connection.late();
  }

  /** Delivers an item that was claimed; whether it is kept. */
  boolean deliver(Connection claim, byte[] item) {
    long start = System.nanoTime();
    try {
      claim.deliver(item);
      int answer = claim.answer(common.timeouts().progress().toNanos());
      boolean kept = answer == Wire.KEPT;
      if ((!kept && answer != Wire.FULL && answer != Wire.BUSY) || claim.following() != 0) {
        throw new WireException(
            Kind.MALFORMED, "it answers " + Integer.toHexString(answer) + " to an item");
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

  void giveUp(Connection claim) {
    try {
      claim.giveUp();
      host.giveBack(claim);
    } catch (IOException | RuntimeException e) {
      claim.close(); // Which gives the claim back too.
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

  /**
   * From the background: closes what is not used, and looks whether a peer that was out is back.
   */
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
                  "Host %s does not answer: what it keeps is read from storage until it does.",
                  member.name()));
    }
  }

  /**
   * Greets a peer that nobody has asked yet, so that what it has to load for its first answer does
   * not make that answer late; with so much patience for each step.
   */
  void greet(Duration patience) {
    if (!alive(patience)) {
      common.log().once("Host " + member.name() + " is there, but does not answer yet.");
    }
  }

  private boolean alive(Duration patience) {
    long nanos = patience.toNanos();
    try (Connection connection = new Connection(member.data(), common, nanos)) {
      connection.ask(Wire.PING, new ItemKey(0, 0), 0, nanos);
      return connection.answer(nanos) == Wire.ALIVE;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  @Override
  public void close() {
    host.close();
  }
}
