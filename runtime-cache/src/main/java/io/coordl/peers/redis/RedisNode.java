package io.coordl.peers.redis;

import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.RemoteHost;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server. Once it answers a probe ({@link #tend}), program threads use it until an answer is
 * late or fails. Thread-safe.
 */
final class RedisNode {
  /** How long to pause writes after a refusal. */
  private static final long FULL_NANOS = 10_000_000_000L;

  /**
   * Minimum greeting limit on an agent thread: a JVM's first TLS handshake takes most of a second.
   */
  private static final Duration MIN_GREETING = Duration.ofSeconds(3);

  private static final Pattern CODE = Pattern.compile("[A-Z]{1,20}");

  /** Host and port. */
  final String name;

  final RedisUri uri;
  private final Common common;
  private final Duration progress;
  private final RemoteHost<RedisConnection> host;
  private volatile InetSocketAddress address;
  private volatile long fullUntil = System.nanoTime();
  private volatile String trouble = "";

  /** Settings shared by an engine's servers; null {@code tls} trusts the JDK's certificates. */
  record Common(@Nullable SSLContext tls, Watch watch, Timeouts timeouts, OnceLog log) {}

  /**
   * The reason why there is no usable answer.
   *
   * @param heard the result to record; null if there is none, because the server is down or there
   *     is no memory for the answer
   * @param code code of the server's error; empty if there was none
   */
  record Fault(@Nullable Answer heard, String code) {
    static final Fault NOT_ASKED = new Fault(null, "");
    static final Fault LATE = new Fault(Answer.LATE, "");
    static final Fault FAILED = new Fault(Answer.FAILED, "");
  }

  RedisNode(RedisUri uri, Common common) {
    this.name = uri.server().toString();
    this.uri = uri;
    this.common = common;
    this.address = InetSocketAddress.createUnresolved(uri.server().host(), uri.server().port());
    this.progress = common.timeouts().progress();
    Duration probe = common.timeouts().probe();
    this.host = new RemoteHost<>(probe, probe, true);
  }

  /** Whether program threads may use the server. */
  boolean up() {
    return !host.isOut();
  }

  void refused() {
    fullUntil = System.nanoTime() + FULL_NANOS;
  }

  /** Whether the server has recently refused a request, for example because it is full. */
  boolean full() {
    return System.nanoTime() - fullUntil < 0;
  }

  boolean isLoopback() {
    return !address.isUnresolved() && address.getAddress().isLoopbackAddress();
  }

  /**
   * Probes the server if that is due; true if it is up. Called in the background, because it
   * resolves names, which can take arbitrarily long.
   */
  boolean tend() {
    if (host.tend()) {
      Duration greeting = progress.compareTo(MIN_GREETING) > 0 ? progress : MIN_GREETING;
      try {
        address = new InetSocketAddress(uri.server().host(), uri.server().port());
        RedisConnection connection = connect(greeting);
        host.probed(true);
        host.giveBack(connection);
      } catch (IOException | RuntimeException e) {
        trouble = trouble(e, greeting);
        host.probed(false);
      }
    }
    return up();
  }

  private RedisConnection connect(Duration greeting) throws IOException {
    return new RedisConnection(uri, address, common, greeting);
  }

  /**
   * Sends a command to the server.
   *
   * @param length maximum length of a value in the answer, in bytes; 64 KiB are always allowed
   * @return the result of {@link RedisConnection#ask}; a {@link Fault} if it is an error or missing
   */
  @Nullable Object ask(int length, Command command, Object... arguments) {
    for (RedisConnection old = up() ? host.take() : null; up(); old = null) {
      try {
        RedisConnection connection = old == null ? connect(progress) : old;
        Object answer = connection.ask(length, command, arguments);
        if (answer != RedisConnection.TOO_LONG) {
          host.giveBack(connection);
        }
        return answer instanceof JedisDataException error
            ? new Fault(Answer.FAILED, code(error))
            : answer;
      } catch (OutOfMemoryError e) {
        return Fault.NOT_ASKED; // The program's own call may need less memory.
      } catch (IOException | RuntimeException | LinkageError e) {
        boolean late = e instanceof SocketTimeoutException;
        if (late || old == null) {
          trouble = trouble(e, progress);
          if (host.giveUp()) {
            logDown();
          }
          return late ? Fault.LATE : Fault.FAILED;
        }
        host.dropUnused(); // The server may have restarted: retry with a new connection.
      }
    }
    return Fault.NOT_ASKED;
  }

  void logDown() {
    String until = " is not used until it answers again (" + trouble;
    logOnce("down " + name, until + "): its items are read from storage.");
  }

  void logMissing() {
    String until = " is not reachable yet (" + trouble;
    logOnce("start " + name, until + "): items are read from storage until it is.");
  }

  /** Logs a sentence about this server, once per kind. */
  void logOnce(String kind, String what) {
    common.log().once(kind, "Redis at " + name + what);
  }

  void close() {
    host.close();
  }

  /** Returns the JDK's message for a broken connection; for a server's error, only its code. */
  private static String trouble(Throwable e, Duration patience) {
    if (e instanceof SocketTimeoutException) {
      return "no answer within " + patience.toMillis() + " ms";
    }
    if (e instanceof JedisDataException error) {
      return "it answers " + code(error);
    }
    Throwable root =
        Stream.iterate(e, Objects::nonNull, Throwable::getCause).reduce(e, (a, b) -> b);
    String message = root instanceof IOException ? "" + root.getMessage() : "not a Redis server";
    return "no answer: " + message.substring(0, Math.min(160, message.length()));
  }

  /**
   * Returns only the code of an error: the full text may repeat the request, including passwords.
   */
  private static String code(JedisDataException e) {
    Matcher code = CODE.matcher("" + e.getMessage());
    return code.lookingAt() ? code.group() : "an error";
  }
}
