package io.coordl.peers.redis;

import io.coordl.peers.BoundedSocket;
import io.coordl.peers.HostPort;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.RedisOutputStream;

/**
 * One connection to one server, used by one thread at a time. Jedis writes the requests; this class
 * reads the answers, because Jedis allocates any length that a server claims.
 */
final class RedisConnection implements Closeable {
  /** Returned in place of a value that is longer than requested. */
  static final Object TOO_LONG = new Object();

  /** Maximum length of a line; a value may be this long even if less was requested. */
  private static final int SMALL_BYTES = 64 << 10;

  private static final int BUFFER_BYTES = 16 << 10;

  private final BoundedSocket socket;
  private final InputStream in;
  private final RedisOutputStream out;

  /**
   * Connects, authenticates, and pings the server.
   *
   * @param greeting time limit of these steps, once connected
   * @throws IOException if no trusted connection is established within the limits
   * @throws JedisDataException if the server refuses
   */
  RedisConnection(
      RedisUri uri, InetSocketAddress address, RedisNode.Common common, Duration greeting)
      throws IOException {
    socket =
        new BoundedSocket(
            address,
            common.watch(),
            common.timeouts(),
            greeting.toNanos(),
            plain -> uri.secure() ? secure(plain, uri.server(), common.tls()) : plain);
    in = new BufferedInputStream(socket.in(), BUFFER_BYTES);
    out = new RedisOutputStream(socket.out());
    try {
      if (uri.password() != null) {
        Stream<String> credentials = Stream.of(uri.user(), uri.password());
        exchange(0, Command.AUTH, credentials.filter(Objects::nonNull).toArray());
      }
      if (uri.database() != 0) {
        exchange(0, Command.SELECT, uri.database());
      }
      if (!text(exchange(0, Command.PING)).equals("PONG")) {
        throw invalidAnswer();
      }
      socket.end();
      socket.patience(common.timeouts().progress().toNanos());
    } catch (IOException | RuntimeException e) {
      socket.fail();
      throw e;
    }
  }

  /**
   * Performs the TLS handshake. If the user set a key store, trusts its certificates under any host
   * name; otherwise trusts the JDK's certificates and checks the host name.
   */
  private static Socket secure(Socket plain, HostPort server, @Nullable SSLContext tls)
      throws IOException {
    SocketFactory sockets = tls == null ? SSLSocketFactory.getDefault() : tls.getSocketFactory();
    SSLSocket socket =
        (SSLSocket)
            ((SSLSocketFactory) sockets).createSocket(plain, server.host(), server.port(), true);
    if (tls == null) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
    }
    socket.startHandshake();
    return socket;
  }

  /**
   * Sends a command and reads the answer; closes the connection unless it is still usable.
   *
   * @param length maximum length of a value in the answer, in bytes; {@link #SMALL_BYTES} are
   *     always allowed
   * @return null, a value as bytes, text, an error as {@link JedisDataException}, or {@link
   *     #TOO_LONG}
   */
  @Nullable Object ask(int length, Command command, Object... arguments) throws IOException {
    try {
      socket.begin();
      Object answer = exchange(length, command, arguments);
      socket.end();
      return answer;
    } catch (JedisDataException e) {
      socket.end();
      return e;
    } catch (IOException | RuntimeException | Error e) {
      socket.fail();
      throw e;
    }
  }

  private @Nullable Object exchange(int length, Command command, Object... arguments)
      throws IOException {
    Protocol.sendCommand(out, new CommandArguments(command).addObjects(arguments));
    out.flush();
    int kind = in.read();
    String line = line();
    return switch (kind) { // No command used here returns a list.
      case '$' -> line.equals("-1") ? null : value(Long.parseLong(line), length);
      case '+', ':' -> line;
      case '-' -> throw new JedisDataException(line);
      default -> throw invalidAnswer();
    };
  }

  private Object value(long claimed, int length) throws IOException {
    if (claimed > Math.max(length, SMALL_BYTES)) {
      close();
      return TOO_LONG;
    }
    byte[] value = new byte[(int) claimed];
    socket.read(in, value, 0, value.length);
    if (!line().isEmpty()) {
      throw invalidAnswer();
    }
    return value;
  }

  /** Reads the rest of a line, without its terminator. */
  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\r'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the connection was closed early");
      }
      if (line.size() == SMALL_BYTES) {
        throw invalidAnswer();
      }
      line.write(next);
    }
    if (in.read() != '\n') {
      throw invalidAnswer();
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    socket.close();
  }

  static String text(@Nullable Object answer) {
    return answer instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "" + answer;
  }

  private static IOException invalidAnswer() {
    return new IOException("not a valid Redis answer");
  }
}
