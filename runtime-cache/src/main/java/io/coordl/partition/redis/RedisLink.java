package io.coordl.partition.redis;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.PushConsumerChain;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.RedisInputStream;

/**
 * One connection to one server, by Jedis, on a {@link WatchedSocket}. Jedis speaks the protocol;
 * its replies are read here, for two reasons: an item goes past Jedis' buffer of 8 KiB, in one
 * piece and into the array that is handed out, and no length that a server claims is believed
 * before it is known to be sane.
 *
 * <p>One thread at a time. All methods throw Jedis' exceptions: {@code JedisDataException} for an
 * answer that is an error, after which the connection is as good as before, others for one that is
 * of no use any more.
 */
final class RedisLink extends Connection {
  static final int CONNECT_MILLIS = 300;

  private static final int MOST_BYTES = 64 * 1024;
  private static final int MOST_PARTS = 64 * 1024;
  private static final int MOST_DEPTH = 8;
  private static final int END_OF_LINE = 2;

  private final WatchedSocket watched;
  private final Socket socket;

  /** Where an item of just this length goes that is about to be read; null otherwise. */
  private byte @Nullable [] target;

  private RedisLink(WatchedSocket watched, Socket socket) {
    super(() -> socket);
    this.watched = watched;
    this.socket = socket;
  }

  /**
   * Connects, and says who asks.
   *
   * @param patienceNanos how long the other side may say nothing
   * @param sockets keeps the open ones, for who closes them when they are overdue
   * @throws IOException if there is no connection, in time, that both sides trust
   */
  static RedisLink open(
      RedisUri server,
      InetSocketAddress address,
      @Nullable SSLContext tls,
      long patienceNanos,
      Collection<WatchedSocket> sockets)
      throws IOException {
    WatchedSocket watched = new WatchedSocket();
    boolean opened = false;
    sockets.add(watched);
    try {
      watched.connect(address, CONNECT_MILLIS);
      watched.begin(0, patienceNanos);
      RedisLink link =
          new RedisLink(watched, server.secure() ? secure(watched, server, tls) : watched);
      link.greet(server);
      opened = watched.end();
      if (!opened) {
        throw tooLate(patienceNanos);
      }
      return link;
    } catch (IOException | JedisConnectionException e) {
      if (watched.wasLate()) {
        throw tooLate(patienceNanos);
      }
      throw e;
    } finally {
      if (!opened) {
        watched.closeQuietly();
        sockets.remove(watched);
      }
    }
  }

  private static IOException tooLate(long patienceNanos) {
    return new IOException("nothing heard for " + patienceNanos / 1_000_000 + " ms");
  }

  /** The user's own keys say whom to trust, whatever its name; else the JDK does, by name. */
  private static Socket secure(WatchedSocket plain, RedisUri server, @Nullable SSLContext tls)
      throws IOException {
    try {
      SSLContext context = tls == null ? SSLContext.getDefault() : tls;
      SSLSocket socket =
          (SSLSocket)
              context.getSocketFactory().createSocket(plain, server.host(), server.port(), true);
      if (tls == null) {
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
      }
      socket.startHandshake();
      return socket;
    } catch (NoSuchAlgorithmException e) {
      throw new IOException(e);
    }
  }

  private void greet(RedisUri server) {
    connect();
    String password = server.password();
    if (password != null) {
      String user = server.user();
      if (user == null) {
        expect("OK", Command.AUTH, password);
      } else {
        expect("OK", Command.AUTH, user, password);
      }
    }
    if (server.database() != 0) {
      expect("OK", Command.SELECT, Integer.toString(server.database()));
    }
  }

  /** Asks what has one right answer only. */
  void expect(String answer, Command command, String... arguments) {
    sendCommand(command, arguments);
    if (!text(getOne()).equals(answer)) {
      throw noAnswer();
    }
  }

  WatchedSocket watched() {
    return watched;
  }

  /** An answer in words or numbers. */
  @Nullable Object ask(Command command, String... arguments) {
    sendCommand(command, arguments);
    return getOne();
  }

  /** As above, of arguments that are no words. */
  @Nullable Object ask(Command command, byte[]... arguments) {
    sendCommand(command, arguments);
    return getOne();
  }

  /**
   * The value of a key.
   *
   * @param value takes it if it is just as long
   * @return null if there is none, {@code value}, or another array if it is of another length
   */
  byte @Nullable [] get(byte[] key, byte[] value) {
    target = value;
    try {
      sendCommand(Command.GET, key);
      return (byte[]) getOne();
    } finally {
      target = null;
    }
  }

  /** Called by Jedis for each answer; errors and short answers are its own business. */
  @Override
  protected @Nullable Object protocolRead(RedisInputStream in, PushConsumerChain consumers) {
    return read(in, consumers, 0);
  }

  private @Nullable Object read(RedisInputStream in, PushConsumerChain consumers, int depth) {
    if (in.peek((byte) '$')) {
      in.readByte();
      return readBytes(in);
    }
    if (in.peek((byte) '*')) {
      in.readByte();
      int parts = in.readIntCrLf();
      if (parts > MOST_PARTS || depth == MOST_DEPTH) {
        throw noAnswer();
      }
      List<@Nullable Object> list = new ArrayList<>();
      for (int i = 0; i < parts; i++) {
        list.add(read(in, consumers, depth + 1));
      }
      return list;
    }
    if (in.peek((byte) '+') || in.peek((byte) '-') || in.peek((byte) ':')) {
      return super.protocolRead(in, consumers);
    }
    throw noAnswer();
  }

  private byte @Nullable [] readBytes(RedisInputStream in) {
    int length = in.readIntCrLf();
    if (length == -1) {
      return null;
    }
    byte[] expected = target;
    boolean item = expected != null && length == expected.length;
    if (!item && (length < 0 || length > MOST_BYTES)) {
      throw expected == null || length < 0 ? noAnswer() : new ForeignValue();
    }
    byte[] bytes = item && expected != null ? expected : new byte[length];
    try {
      // What Jedis has read already lies in its buffer, which is empty after this.
      int done = length == 0 ? 0 : in.read(bytes, 0, length);
      InputStream direct = socket.getInputStream();
      while (done < length) {
        int count = direct.read(bytes, done, length - done);
        if (count < 0) {
          throw new JedisConnectionException("The server closed the connection.");
        }
        done += count;
      }
    } catch (IOException e) {
      throw new JedisConnectionException(e);
    }
    for (int i = 0; i < END_OF_LINE; i++) {
      in.readByte();
    }
    return bytes;
  }

  private static JedisConnectionException noAnswer() {
    return new JedisConnectionException("This is no answer of a Redis.");
  }

  /** Text of an answer. */
  static String text(@Nullable Object answer) {
    return answer instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(answer);
  }

  /** A value that is not the item's; it is not read, so the connection is of no use any more. */
  static final class ForeignValue extends RuntimeException {
    private static final long serialVersionUID = 1;

    ForeignValue() {
      super("A value of another length", null, false, false);
    }
  }

  /** Closes the socket, whatever it does at the moment. Any thread. */
  void discard(Consumer<WatchedSocket> forgotten) {
    forgotten.accept(watched);
    watched.closeQuietly();
  }
}
