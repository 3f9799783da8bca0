package io.coordl.partition.redis;

import io.coordl.partition.RemoteHost;
import io.coordl.partition.Timeouts;
import io.coordl.partition.UserLog;
import io.coordl.partition.Watch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server. Threads of the program ask it only after it has answered once ({@link #tend}), and
 * until an answer is late or fails. Thread-safe.
 */
final class RedisNode {
  /** After a refusal nothing is written for so long. */
  private static final long FULL_NANOS = 10_000_000_000L;

  /** A thread of the agent may wait: the first TLS of a JVM takes the better part of a second. */
  private static final Duration GREETING = Duration.ofSeconds(3);

  private static final Pattern CODE = Pattern.compile("[A-Z]{1,20}");

  /** Host and port. */
  final String name;

  final RedisUri server;
  private final Common common;
  private final RemoteHost<RedisConnection> host;
  private volatile @Nullable InetSocketAddress address;
  private volatile long fullUntil;
  private volatile boolean full;
  private volatile String trouble = "";

  /** What the servers of an engine have in common; without own keys those of the JDK. */
  record Common(@Nullable SSLContext tls, Watch watch, Timeouts timeouts, UserLog log) {}

  /** What came back. */
  record Reply(Kind kind, @Nullable Object answer) {
    boolean is(Kind wanted) {
      return kind == wanted;
    }
  }

  /** Kinds of replies. */
  enum Kind {
    ANSWER,
    /** An error; the answer is its code. */
    ERROR,
    /** A value longer than what was asked for. */
    TOO_LONG,
    LATE,
    FAILED,
    /** It was not asked, since it is given up, or there is no memory for the answer. */
    NOT_ASKED
  }

  RedisNode(RedisUri server, Common common) {
    this.name = RedisUri.name(server.host(), server.port());
    this.server = server;
    this.common = common;
    Duration probe = common.timeouts().probe();
    this.host = new RemoteHost<>(probe, probe, true);
  }

  /** Whether threads of the program ask it. */
  boolean up() {
    return !host.out();
  }

  /** Whether it has refused to keep something not long ago. */
  boolean full() {
    return full && System.nanoTime() - fullUntil < 0;
  }

  /** It refused to keep something. */
  void refused() {
    fullUntil = System.nanoTime() + FULL_NANOS;
    full = true;
  }

  boolean isLoopback() {
    InetSocketAddress known = address;
    return known != null && known.getAddress().isLoopbackAddress();
  }

  /**
   * From the background, since names are resolved here, for which there is no bound: looks whether
   * it is there, if that is due; whether it is up.
   */
  boolean tend() {
    if (host.tend()) {
      Duration usual = common.timeouts().progress();
      Duration greeting = usual.compareTo(GREETING) > 0 ? usual : GREETING;
      boolean alive = false;
      try {
        address = new InetSocketAddress(InetAddress.getByName(server.host()), server.port());
        RedisConnection fresh = open(greeting);
        alive = true;
        host.looked(true);
        host.giveBack(fresh);
      } catch (IOException | RuntimeException e) {
        trouble = trouble(e, greeting);
      } finally {
        if (!alive) {
          host.looked(false);
        }
      }
    }
    return up();
  }

  private RedisConnection open(Duration greeting) throws IOException {
    InetSocketAddress known = address;
    if (known == null) {
      throw new UnknownHostException();
    }
    return new RedisConnection(
        server, known, common.tls(), common.watch(), common.timeouts(), greeting);
  }

  /**
   * Asks the server.
   *
   * @param length of the longest value that may be sent or received
   */
  Reply ask(int length, Command command, byte[]... arguments) {
    if (!up()) {
      return new Reply(Kind.NOT_ASKED, null);
    }
    RedisConnection unused = host.take();
    if (unused != null) {
      Reply reply = ask(unused, length, command, arguments);
      if (!reply.is(Kind.FAILED)) {
        return reply;
      }
      host.dropUnused(); // A server that was started anew is there nevertheless.
    }
    return ask(null, length, command, arguments);
  }

  private Reply ask(
      @Nullable RedisConnection unused, int length, Command command, byte[]... arguments) {
    RedisConnection connection = unused;
    boolean good = false;
    try {
      connection = connection == null ? open(common.timeouts().progress()) : connection;
      Object answer = connection.ask(length, command, arguments);
      good = true;
      return new Reply(Kind.ANSWER, answer);
    } catch (OutOfMemoryError e) {
      return new Reply(Kind.NOT_ASKED, null); // The program's own call may need less.
    } catch (IOException | RuntimeException | LinkageError e) {
      if (connection != null && connection.tooLong()) {
        return new Reply(Kind.TOO_LONG, null);
      }
      if (connection != null && e instanceof JedisDataException error) {
        good = true;
        return new Reply(Kind.ERROR, code(error));
      }
      boolean late = e instanceof SocketTimeoutException;
      if (late || unused == null) {
        trouble = trouble(e, common.timeouts().progress());
        if (host.giveUp()) {
          sayDown();
        }
      }
      return new Reply(late ? Kind.LATE : Kind.FAILED, null);
    } finally {
      if (connection != null && good) {
        host.giveBack(connection);
      } else if (connection != null) {
        connection.close();
      }
    }
  }

  void sayDown() {
    common
        .log()
        .once(
            "down " + name,
            "Redis at "
                + name
                + " is not used until it answers again ("
                + trouble
                + "): its items are read from storage.");
  }

  void sayMissing() {
    common
        .log()
        .once(
            "start " + name,
            "Redis at "
                + name
                + " is not there yet ("
                + trouble
                + "): items are read from storage until it is.");
  }

  /** Ends all that nobody uses. */
  void close() {
    host.close();
  }

  /** What the JDK says of a broken connection; of what the server said, the kind of error alone. */
  private static String trouble(Throwable e, Duration patience) {
    if (e instanceof SocketTimeoutException) {
      return "it does not answer within " + patience.toMillis() + " ms";
    }
    if (e instanceof JedisDataException error) {
      return "it answers " + code(error);
    }
    Throwable cause = e;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String message = cause instanceof IOException ? "" + cause.getMessage() : "of no Redis";
    String printable = message.replaceAll("\\p{Cntrl}+", " ");
    return "no answer: " + printable.substring(0, Math.min(160, printable.length()));
  }

  /** The kind of an error: servers repeat in their words what they were sent, passwords too. */
  private static String code(JedisDataException e) {
    Matcher code = CODE.matcher("" + e.getMessage());
    return code.lookingAt() ? code.group() : "an error";
  }
}
