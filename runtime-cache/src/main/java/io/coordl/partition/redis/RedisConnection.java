package io.coordl.partition.redis;

import io.coordl.partition.BoundedSocket;
import io.coordl.partition.HostPort;
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
 * One connection to one server. Jedis writes the questions; the answers are read here, since Jedis
 * allocates whatever length a server claims. One thread at a time.
 */
final class RedisConnection implements Closeable {
  /** In place of a value that is longer than asked for. */
  static final Object TOO_LONG = new Object();

  /** Of a line, and of a value, however little was asked for. */
  private static final int SMALL_BYTES = 64 << 10;

  private static final int BUFFER_BYTES = 16 << 10;

  private final BoundedSocket socket;
  private final InputStream in;
  private final RedisOutputStream out;

  /**
   * Connects, says who asks, and hears an answer.
   *
   * @param greeting how long all of that may take, once connected
   * @throws IOException if there is no connection, in time, that both sides trust; Jedis'
   *     exceptions if the server refuses
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
        Stream<String> who = Stream.of(uri.user(), uri.password());
        exchange(0, Command.AUTH, who.filter(Objects::nonNull).toArray());
      }
      if (uri.database() != 0) {
        exchange(0, Command.SELECT, uri.database());
      }
      if (!text(exchange(0, Command.PING)).equals("PONG")) {
        throw noAnswer();
      }
      socket.end();
      socket.patience(common.timeouts().progress().toNanos());
    } catch (IOException | RuntimeException e) {
      socket.fail();
      throw e;
    }
  }

  /** The user's own keys say whom to trust, whatever its name; else the JDK does, by name. */
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
   * Asks; closes the connection unless it is as good as before.
   *
   * @param length of the longest value that may be sent or received
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
    return switch (kind) { // No list is ever asked for.
      case '$' -> line.equals("-1") ? null : value(Long.parseLong(line), length);
      case '+', ':' -> line;
      case '-' -> throw new JedisDataException(line);
      default -> throw noAnswer();
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
      throw noAnswer();
    }
    return value;
  }

  /** What is left of a line, without its end. */
  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\r'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("it ends in the middle");
      }
      if (line.size() == SMALL_BYTES) {
        throw noAnswer();
      }
      line.write(next);
    }
    if (in.read() != '\n') {
      throw noAnswer();
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

  private static IOException noAnswer() {
    return new IOException("this is no answer of a Redis");
  }
}
