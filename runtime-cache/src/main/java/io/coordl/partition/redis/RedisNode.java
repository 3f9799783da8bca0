package io.coordl.partition.redis;

import io.coordl.partition.PeerSink;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server: its idle connections and its breaker. Threads of the program ask it only while the
 * breaker is closed, which a first success of {@link #probe} does; the first answer that is late or
 * fails opens it, and then no thread of the program waits for this server until a probe has had an
 * answer. Thread-safe.
 */
final class RedisNode {
  /** After a refusal for want of memory nothing is written for so long. */
  private static final long FULL_NANOS = 10_000_000_000L;

  /** A thread of the agent may wait: the first TLS of a JVM takes the better part of a second. */
  private static final long FIRST_GREETING_NANOS = 3_000_000_000L;

  private final RedisUri server;
  private final String name;
  private final RedisLinks links;
  private final Consumer<RedisNode> failed;
  private final ConcurrentLinkedDeque<RedisLink> idle = new ConcurrentLinkedDeque<>();
  private volatile @Nullable InetSocketAddress address;
  private volatile boolean up;
  private volatile boolean full;
  private volatile long fullSince;
  private volatile @Nullable String trouble;

  /**
   * A server that is not asked yet.
   *
   * @param failed hears of each time the breaker opens
   */
  RedisNode(RedisUri server, RedisLinks links, Consumer<RedisNode> failed) {
    this.server = server;
    this.name = RedisUri.name(server.host(), server.port());
    this.links = links;
    this.failed = failed;
  }

  /** Host and port. */
  String name() {
    return name;
  }

  RedisUri server() {
    return server;
  }

  /** Whether threads of the program ask it. */
  boolean up() {
    return up;
  }

  /** Why it is not up, in words that hold no secret; null if it never was in trouble. */
  @Nullable String trouble() {
    return trouble;
  }

  /** Whether it has refused to keep something not long ago. */
  boolean full() {
    return full && System.nanoTime() - fullSince < FULL_NANOS;
  }

  /** It refused to keep something. */
  void refused() {
    fullSince = System.nanoTime();
    full = true;
  }

  /** It is there, but others may be. */
  boolean isLoopback() {
    InetSocketAddress known = address;
    return known != null && known.getAddress().isLoopbackAddress();
  }

  /**
   * Looks whether the server answers, and if so closes the breaker. On a thread of the agent: names
   * are resolved here, for which there is no bound.
   *
   * @return whether it is up
   */
  boolean probe() {
    try {
      address = new InetSocketAddress(InetAddress.getByName(server.host()), server.port());
      attempt(
          0,
          false,
          link -> {
            link.expect("PONG", Command.PING);
            return true;
          });
      up = true;
      return true;
    } catch (Unavailable e) {
      trouble = e.getMessage();
    } catch (JedisDataException e) {
      trouble = code(e);
    } catch (IOException e) {
      trouble = "its name has no address";
    }
    up = false;
    return false;
  }

  /**
   * Asks the server.
   *
   * @param bytes as many as will be sent or received, about
   * @throws JedisDataException if it answers that this is an error
   * @throws Unavailable if it does not answer, or is not asked because it did not lately
   */
  <T extends @Nullable Object> T ask(long bytes, Function<RedisLink, T> question)
      throws Unavailable {
    if (!up) {
      throw new Unavailable(PeerSink.Answer.FAILED, "it is not asked", false);
    }
    try {
      return attempt(bytes, true, question);
    } catch (Unavailable e) {
      up = false;
      trouble = e.getMessage();
      idleOut();
      failed.accept(this);
      throw e;
    }
  }

  private <T extends @Nullable Object> T attempt(
      long bytes, boolean mayReuse, Function<RedisLink, T> question) throws Unavailable {
    RedisLink old = mayReuse ? idle.pollFirst() : null;
    if (old != null) {
      try {
        return run(old, bytes, question);
      } catch (Unavailable e) {
        if (e.answer() == PeerSink.Answer.LATE) {
          throw e;
        }
        // A server that was started anew, or that has closed what was idle, is there nevertheless.
        idleOut();
      }
    }
    RedisLink fresh = open(mayReuse ? links.patienceNanos() : FIRST_GREETING_NANOS);
    return run(fresh, bytes, question);
  }

  private RedisLink open(long patienceNanos) throws Unavailable {
    InetSocketAddress known = address;
    if (known == null) {
      throw new Unavailable(PeerSink.Answer.FAILED, "its name has no address", true);
    }
    try {
      return links.open(server, known, patienceNanos);
    } catch (JedisDataException e) {
      throw new Unavailable(PeerSink.Answer.FAILED, "it answers " + code(e), true);
    } catch (IOException | RuntimeException e) {
      throw new Unavailable(
          PeerSink.Answer.FAILED, "no connection that both sides trust: " + reason(e), true);
    }
  }

  private <T extends @Nullable Object> T run(
      RedisLink link, long bytes, Function<RedisLink, T> question) throws Unavailable {
    boolean good = false;
    link.watched().begin(bytes, links.patienceNanos());
    try {
      T answer = question.apply(link);
      good = true;
      return answer;
    } catch (JedisDataException e) {
      good = true;
      throw e;
    } catch (RedisLink.ForeignValue e) {
      throw e;
    } catch (RuntimeException | LinkageError e) {
      boolean late = link.watched().wasLate();
      throw new Unavailable(
          late ? PeerSink.Answer.LATE : PeerSink.Answer.FAILED,
          late
              ? "it does not answer within " + links.patienceNanos() / 1_000_000 + " ms"
              : "it gives no answer: " + reason(e),
          true);
    } finally {
      good &= link.watched().end();
      if (good) {
        idle.addFirst(link);
        if (links.closed()) {
          idleOut();
        }
      } else {
        links.discard(link);
      }
    }
  }

  /** Closes the connections that are not in use. */
  void idleOut() {
    for (RedisLink link = idle.pollFirst(); link != null; link = idle.pollFirst()) {
      links.discard(link);
    }
  }

  /** The kind of an error: servers repeat in their words what they were sent, passwords too. */
  static String code(JedisDataException e) {
    String message = String.valueOf(e.getMessage());
    int end = 0;
    while (end < message.length()
        && end < 20
        && message.charAt(end) >= 'A'
        && message.charAt(end) <= 'Z') {
      end++;
    }
    return end == 0 ? "an error" : message.substring(0, end);
  }

  /** What the JDK says of a broken connection; never what the server said. */
  private static String reason(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String message = cause.getMessage();
    if (!(cause instanceof IOException) || message == null) {
      return "this is no answer of a Redis";
    }
    String printable = message.replaceAll("\\p{Cntrl}+", " ");
    return printable.length() > 160 ? printable.substring(0, 160) : printable;
  }

  /** The server has not answered. */
  static final class Unavailable extends Exception {
    private static final long serialVersionUID = 1;

    private final PeerSink.Answer answer;
    private final boolean asked;

    Unavailable(PeerSink.Answer answer, String message, boolean asked) {
      super(message, null, false, false);
      this.answer = answer;
      this.asked = asked;
    }

    PeerSink.Answer answer() {
      return answer;
    }

    /** Whether it was asked at all. */
    boolean asked() {
      return asked;
    }
  }
}
