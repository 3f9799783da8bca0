package io.coordl.partition.redis;

import io.coordl.partition.Deadline;
import io.coordl.partition.Timeouts;
import io.coordl.partition.Watch;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One connection to one server, by Jedis, whose socket keeps our bounds: {@link #WINDOW} bytes must
 * move before the deadline, and each line of an answer is read before Jedis reads it, so that no
 * length that a server claims makes Jedis allocate more than was asked for. One thread at a time.
 */
final class RedisConnection implements Closeable {
  private static final int WINDOW = 4 * Timeouts.WINDOW;
  private static final int SMALL_BYTES = 64 * 1024;

  /** Of answers: one value, number, or error, or that there is none; no list is ever asked for. */
  private static final String KINDS = "+-:$\0";

  private static final byte[] TAKEN = bytes("$0\r\n");

  private final Socket plain = new Socket(Proxy.NO_PROXY);
  private final Deadline deadline;
  private final Connection jedis;
  private long patience;

  // Of the question.
  private int longest = SMALL_BYTES;
  private long readable = 2 * SMALL_BYTES;
  private int wanted;
  private byte @Nullable [] item;
  private boolean tooLong;
  private int moved;

  /**
   * Connects, says who asks, and hears an answer.
   *
   * @param greeting how long the other side may say nothing until then
   * @throws IOException if there is no connection, in time, that both sides trust; Jedis'
   *     exceptions if the server refuses
   */
  RedisConnection(
      RedisUri server,
      InetSocketAddress address,
      @Nullable SSLContext tls,
      Watch watch,
      Timeouts timeouts,
      Duration greeting)
      throws IOException {
    deadline = new Deadline(watch, plain);
    patience = greeting.toNanos();
    boolean opened = false;
    try {
      plain.setTcpNoDelay(true);
      plain.connect(address, (int) timeouts.connect().toMillis());
      deadline.in(patience);
      Socket trusted = server.secure() ? secure(server, tls) : plain;
      jedis = new Connection(() -> new Bounded(trusted));
      greet(server);
      if (!deadline.end()) {
        throw noAnswer();
      }
      patience = timeouts.progress().toNanos();
      opened = true;
    } catch (IOException | RuntimeException e) {
      if (deadline.passed()) {
        throw new SocketTimeoutException();
      }
      throw e;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  /** The user's own keys say whom to trust, whatever its name; else the JDK does, by name. */
  private Socket secure(RedisUri server, @Nullable SSLContext tls) throws IOException {
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

  private void greet(RedisUri server) throws IOException {
    String password = server.password();
    if (password != null) {
      String user = server.user();
      List<String> who = user == null ? List.of(password) : List.of(user, password);
      jedis.executeCommand(new CommandArguments(Command.AUTH).addObjects(who));
    }
    if (server.database() != 0) {
      jedis.select(server.database());
    }
    if (!jedis.ping()) {
      throw noAnswer();
    }
  }

  /**
   * Asks.
   *
   * @param length of the longest value that may be sent or received
   * @throws JedisDataException if the answer is an error, after which the connection is as good as
   *     before; after others it is of no use any more
   */
  @Nullable Object ask(int length, Command command, byte[]... arguments) throws IOException {
    longest = Math.max(length, SMALL_BYTES);
    readable = (long) longest + SMALL_BYTES;
    wanted = length;
    item = null;
    tooLong = false;
    moved = 0;
    deadline.in(patience);
    try {
      jedis.sendCommand(command, arguments);
      Object answer = jedis.getOne();
      if (deadline.end()) {
        return item == null ? answer : item;
      }
    } catch (RuntimeException e) {
      if (deadline.end()) {
        throw e;
      }
    }
    throw new SocketTimeoutException();
  }

  /** Whether the last answer was a longer value than asked for. */
  boolean tooLong() {
    return tooLong;
  }

  @Override
  public void close() {
    deadline.close();
  }

  /** Text of an answer. */
  static String text(@Nullable Object answer) {
    return answer instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "" + answer;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static IOException noAnswer() {
    return new IOException("this is no answer of a Redis");
  }

  private void moved(int count) {
    moved += count;
    if (moved >= WINDOW) {
      moved = 0;
      deadline.in(patience);
    }
  }

  /** What Jedis takes for a connected socket. */
  private final class Bounded extends Socket {
    private final Socket socket;

    Bounded(Socket socket) {
      this.socket = socket;
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new Answers(socket.getInputStream());
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new Pieces(socket.getOutputStream());
    }

    @Override
    public boolean isBound() {
      return true;
    }

    @Override
    public boolean isConnected() {
      return true;
    }

    @Override
    public int getSoTimeout() {
      return 0;
    }
  }

  /** Reads along. */
  private final class Answers extends FilterInputStream {
    /** What the line is, by its first character; 0 before it begins. */
    private int kind;

    private int read;
    private long number;
    private boolean negative;
    private boolean ended;

    /** Bytes of a value, and of the end of its line, that are still to come. */
    private long value;

    Answers(InputStream in) {
      super(in);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = in.read(target, offset, length);
      readable -= count;
      moved(count);
      int end = offset + count;
      int begin = -1;
      for (int at = offset; at < end; ) {
        if (value > 0) {
          int skipped = (int) Math.min(value, end - at);
          value -= skipped;
          at += skipped;
        } else {
          begin = kind == 0 ? at : begin;
          look(target[at++]);
          if (begin >= 0 && value == wanted + 2L && end - at < wanted) {
            takeItem(target, at, end);
            System.arraycopy(TAKEN, 0, target, begin, TAKEN.length);
            return begin + TAKEN.length - offset;
          }
        }
      }
      return count;
    }

    /** An item passes by Jedis, whose buffer is small, which is told of an empty value instead. */
    private void takeItem(byte[] start, int from, int end) throws IOException {
      byte[] whole = new byte[wanted];
      int done = end - from;
      System.arraycopy(start, from, whole, 0, done);
      while (done < wanted) {
        int count = in.read(whole, done, wanted - done);
        if (count < 0) {
          throw new EOFException();
        }
        done += count;
        moved(count);
      }
      item = whole;
      value = 2; // The end of its line is still to come.
    }

    /** The next byte of a line, which ends where it does for Jedis. */
    private void look(byte next) throws IOException {
      boolean digit = next >= '0' && next <= '9';
      if (kind == 0) {
        kind = next;
        read = 0;
        number = 0;
        negative = false;
      } else if (ended) {
        ended = false;
        value = kind == '$' && !negative ? number + 2 : 0;
        kind = next == '\n' && (!negative || number == 1) ? 0 : '?';
      } else if (next == '\r') {
        ended = true;
      } else if (kind == '$' && digit) {
        number = 10 * number + next - '0';
        tooLong = number > longest;
      } else if (kind == '$') {
        kind = next == '-' && read == 1 ? kind : '?';
        negative = true;
      }
      if (tooLong || readable < 0 || ++read > SMALL_BYTES || KINDS.indexOf(kind) < 0) {
        throw noAnswer();
      }
    }
  }

  /** Gives the kernel a message in pieces, so that one that blocks is seen. */
  private final class Pieces extends FilterOutputStream {
    Pieces(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      for (int done = 0; done < length; done += WINDOW) {
        int count = Math.min(WINDOW, length - done);
        out.write(source, offset + done, count);
        moved(count);
      }
    }
  }
}
