package io.coordl.partition.hosts;

import io.coordl.cache.ItemKey;
import io.coordl.partition.PeerSink;
import io.coordl.partition.PeerSink.Answer;
import io.coordl.partition.hosts.WireException.Kind;
import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Another host as a client sees it: connections that wait for use, and the breaker. The first
 * question that is late or fails gives the peer up; from then on no thread of the program asks it,
 * until a look from the background gets an answer. Who is given up again soon is looked at less
 * often, up to every {@link #LONGEST_PAUSE_SECONDS}. Safe for concurrent use.
 */
final class Peer implements Closeable {
  private static final int MOST_UNUSED = 16;
  private static final long LONGEST_PAUSE_SECONDS = 32;
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Member member;
  private final Calls calls;
  private final ConcurrentLinkedDeque<Connection> unused = new ConcurrentLinkedDeque<>();
  private final AtomicBoolean saidStranger = new AtomicBoolean();
  private final AtomicBoolean saidSilent = new AtomicBoolean();
  private volatile boolean out;
  private volatile boolean closed;

  // Of the breaker, guarded by this.
  private long outSince;
  private long lookFrom;
  private long pause;
  private long backSince;
  private boolean everBack;

  Peer(Member member, Calls calls) {
    this.member = member;
    this.calls = calls;
  }

  Member member() {
    return member;
  }

  /** Whether it is given up, for now. */
  boolean out() {
    return out;
  }

  /**
   * A question under way.
   *
   * @param connection null if there is none
   * @param fresh whether the connection was made for it
   * @param failure what became of it already
   */
  record Asked(
      int verb,
      ItemKey key,
      int length,
      long start,
      long patience,
      @Nullable Connection connection,
      boolean fresh,
      @Nullable Exception failure) {}

  /** What came back. */
  static final class Reply {
    static final int NOTHING = 0;
    static final Reply NONE = new Reply(NOTHING, null, null);

    private final int answer;
    private final byte @Nullable [] bytes;
    private final @Nullable Connection claim;

    Reply(int answer, byte @Nullable [] bytes, @Nullable Connection claim) {
      this.answer = answer;
      this.bytes = bytes;
      this.claim = claim;
    }

    /** As of {@link Wire}; {@link #NOTHING} if there was none. */
    int answer() {
      return answer;
    }

    /** The item, if it was FOUND; null if this process has no memory for it. */
    byte @Nullable [] bytes() {
      return bytes;
    }

    /** The connection that holds the claim, if it was GRANTED. */
    @Nullable Connection claim() {
      return claim;
    }
  }

  Reply ask(int verb, ItemKey key, int length, long patience) {
    return answer(begin(verb, key, length, patience));
  }

  /** Asks without waiting for the answer, but for a connection if none is unused. */
  Asked begin(int verb, ItemKey key, int length, long patience) {
    return begin(verb, key, length, patience, System.nanoTime(), unused.pollFirst());
  }

  private Asked begin(
      int verb, ItemKey key, int length, long patience, long start, @Nullable Connection old) {
    Connection connection = old;
    Exception failure = null;
    try {
      if (connection == null) {
        connection =
            Connection.open(
                member.data(), calls.tls(), calls.group(), calls.watch(), calls.timing(), patience);
      }
      connection.ask(verb, key, length, patience);
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
    return new Asked(verb, key, length, start, patience, connection, old == null, failure);
  }

  /**
   * The answer to a question; {@link Reply#NONE}, and the peer given up, if there is none. Where
   * several are asked at once, one that has answered while another was waited for is not late.
   */
  Reply answer(Asked asked) {
    Connection connection = asked.connection();
    Exception failure = asked.failure();
    if (failure == null && connection != null) {
      try {
        return read(asked, connection);
      } catch (IOException | RuntimeException e) {
        failure = e;
      }
    }
    boolean late = failure instanceof SocketTimeoutException;
    if (connection != null) {
      connection.close();
      late |= connection.late();
    }
    if (!asked.fresh() && !late && !(failure instanceof WireException)) {
      dropUnused(); // Of a peer that was there before: maybe it is there again.
      return answer(
          begin(asked.verb(), asked.key(), asked.length(), asked.patience(), asked.start(), null));
    }
    fail(asked.start(), late, failure);
    return Reply.NONE;
  }

  private Reply read(Asked asked, Connection connection) throws IOException {
    long left = asked.start() + asked.patience() - System.nanoTime();
    int answer = connection.answer(Math.max(Timing.SHORTEST.toNanos(), left));
    int following = connection.following();
    boolean finding = asked.verb() == Wire.FIND;
    boolean claiming = asked.verb() == Wire.CLAIM;
    boolean bytes = answer == Wire.FOUND && (finding || claiming);
    boolean known =
        switch (answer) {
          case Wire.FOUND -> bytes;
          case Wire.HAVE -> asked.verb() == Wire.LOOK;
          case Wire.ROOM -> finding || asked.verb() == Wire.LOOK;
          case Wire.FULL, Wire.BUSY -> asked.verb() != Wire.PING;
          case Wire.GRANTED -> claiming;
          case Wire.ALIVE -> asked.verb() == Wire.PING;
          default -> false;
        };
    if (!known || following != (bytes ? asked.length() : 0)) {
      throw new WireException(
          Kind.MALFORMED,
          "it answers " + Integer.toHexString(answer) + " with " + following + " bytes");
    }
    byte[] item = null;
    if (bytes) {
      item = bytes(following);
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
    giveBack(connection);
    if (asked.verb() != Wire.PING) {
      calls.asked(
          member, asked.start(), bytes ? following : 0, bytes ? Answer.FOUND : Answer.ABSENT);
    }
    return new Reply(answer, item, null);
  }

  /** Null where the program has left no heap for it: its own call may need less. */
  static byte @Nullable [] bytes(int length) {
    try {
      return new byte[length];
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  /** Delivers an item that was claimed; whether it is kept. */
  boolean deliver(Connection claim, byte[] item) {
    long start = System.nanoTime();
    Exception failure;
    try {
      claim.deliver(item);
      int answer = claim.answer(calls.timing().progress().toNanos());
      if ((answer != Wire.KEPT && answer != Wire.FULL && answer != Wire.BUSY)
          || claim.following() != 0) {
        throw new WireException(
            Kind.MALFORMED, "it answers " + Integer.toHexString(answer) + " to an item");
      }
      claim.end();
      giveBack(claim);
      boolean kept = answer == Wire.KEPT;
      calls.asked(member, start, item.length, kept ? Answer.KEPT : Answer.ABSENT);
      return kept;
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
    claim.close();
    fail(start, claim.late(), failure);
    return false;
  }

  /** Gives back a claim without the item. */
  void giveUp(Connection claim) {
    try {
      claim.giveUp();
      giveBack(claim);
    } catch (IOException | RuntimeException e) {
      claim.close(); // Which gives the claim back too.
    }
  }

  private void giveBack(Connection connection) {
    connection.unused(System.nanoTime());
    unused.addFirst(connection);
    Connection oldest = unused.size() > MOST_UNUSED ? unused.pollLast() : null;
    if (oldest != null) {
      oldest.close();
    }
    if (closed || out) {
      dropUnused();
    }
  }

  private void fail(long start, boolean late, @Nullable Exception why) {
    if (closed) {
      return;
    }
    calls.asked(member, start, 0, late ? Answer.LATE : Answer.FAILED);
    if (why instanceof WireException && !saidStranger.getAndSet(true)) {
      calls.say("Host " + member.name() + " is not asked for items: " + why.getMessage() + ".");
    }
    giveUpNow();
  }

  private void giveUpNow() {
    synchronized (this) {
      if (out) {
        return;
      }
      long now = System.nanoTime();
      boolean again = everBack && now - backSince < SOON_NANOS;
      pause =
          again
              ? Math.min(2 * pause, TimeUnit.SECONDS.toNanos(LONGEST_PAUSE_SECONDS))
              : calls.timing().probe().toNanos();
      outSince = now;
      lookFrom = now + pause;
      out = true;
    }
    calls.givenUp();
    dropUnused();
  }

  /** From the background: closes what is not used, and looks whether who was given up is back. */
  void tend(long now) {
    Connection oldest = unused.peekLast();
    while (oldest != null && now - oldest.unusedSince() > Timing.UNUSED.toNanos()) {
      if (unused.removeLastOccurrence(oldest)) {
        oldest.close();
      }
      oldest = unused.peekLast();
    }
    synchronized (this) {
      if (!out || now - lookFrom < 0) {
        return;
      }
    }
    if (alive(calls.timing().progress().toNanos())) {
      synchronized (this) {
        out = false;
        everBack = true;
        backSince = System.nanoTime();
      }
      calls.back(member);
    } else {
      synchronized (this) {
        lookFrom = System.nanoTime() + pause;
      }
      saySilent(now);
    }
  }

  private synchronized void saySilent(long now) {
    if (now - outSince >= 2 * calls.timing().probe().toNanos()
        && !saidStranger.get()
        && !saidSilent.getAndSet(true)) {
      calls.say(
          "Host "
              + member.name()
              + " does not answer: what it keeps is read from storage until it does.");
    }
  }

  /**
   * Greets a peer that nobody has asked yet, so that what it has to load for its first answer does
   * not make that answer late.
   *
   * @param patience in nanoseconds, for each step
   */
  void greet(long patience) {
    if (!alive(patience)) {
      calls.say("Host " + member.name() + " is there, but does not answer yet.");
    }
  }

  private boolean alive(long patience) {
    Connection connection = null;
    try {
      connection =
          Connection.open(
              member.data(), calls.tls(), calls.group(), calls.watch(), calls.timing(), patience);
      connection.ask(Wire.PING, new ItemKey(0, 0), 0, patience);
      if (connection.answer(patience) != Wire.ALIVE) {
        connection.close();
        return false;
      }
      connection.end();
      connection.close();
      return true;
    } catch (IOException | RuntimeException e) {
      if (connection != null) {
        connection.close();
      }
      return false;
    }
  }

  private void dropUnused() {
    for (Connection old = unused.pollFirst(); old != null; old = unused.pollFirst()) {
      old.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    dropUnused();
  }

  /** What all peers of an engine have in common. */
  interface Calls {
    @Nullable PeerTls tls();

    String group();

    Watch watch();

    Timing timing();

    /** A question was answered, or not. */
    void asked(Member member, long start, long bytes, PeerSink.Answer answer);

    /** A peer was given up. */
    void givenUp();

    /** A peer that was given up answers again. */
    void back(Member member);

    void say(String words);
  }
}
