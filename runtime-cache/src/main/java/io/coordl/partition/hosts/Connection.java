package io.coordl.partition.hosts;

import io.coordl.cache.ItemKey;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to a peer, of one thread at a time. A {@link Socket}, not a channel: that
 * would be closed when the program interrupts its thread. What takes too long is cut off by the
 * watch, which closes the socket under it; then {@link #late} says so.
 */
final class Connection implements Watch.Watched {
  private static final byte[] STILL = number(Wire.STILL);
  private static final byte[] BYTES = number(Wire.BYTES);
  private static final byte[] GIVE_UP = number(Wire.GIVE_UP);

  private final Socket plain;
  private final Watch watch;
  private final Deadline deadline;
  private final byte[] request = new byte[Wire.REQUEST_BYTES];
  private final byte[] answer = new byte[Wire.ANSWER_BYTES];
  private final Object writing = new Object();
  private InputStream in;
  private OutputStream out;
  private long patience;
  private boolean claiming;
  private long lastSign;
  private volatile long unusedSince;

  private Connection(Socket plain, Watch watch, long patience) throws IOException {
    this.plain = plain;
    this.watch = watch;
    this.deadline = new Deadline(watch);
    this.patience = patience;
    this.in = plain.getInputStream();
    this.out = plain.getOutputStream();
  }

  /**
   * Connects and exchanges hellos, each within {@code patience} nanoseconds.
   *
   * @throws SocketTimeoutException if that passes
   */
  static Connection open(
      InetSocketAddress address,
      @Nullable PeerTls tls,
      String group,
      Watch watch,
      Timing timing,
      long patience)
      throws IOException {
    Socket plain = new Socket(Proxy.NO_PROXY);
    try {
      plain.setTcpNoDelay(true);
      long connect = Math.min(timing.connect().toNanos(), patience);
      plain.connect(address, (int) Math.max(1, connect / 1_000_000));
    } catch (IOException | RuntimeException e) {
      plain.close();
      throw e;
    }
    Connection connection = new Connection(plain, watch, patience);
    watch.add(connection);
    try {
      connection.deadline.in(patience);
      if (tls != null) {
        connection.secure(tls, address);
      }
      connection.out.write(Wire.hello(group));
      Wire.checkHello(connection::read, group);
      connection.end();
      return connection;
    } catch (IOException | RuntimeException e) {
      connection.close();
      if (connection.late()) {
        throw late(e);
      }
      throw e;
    }
  }

  private void secure(PeerTls tls, InetSocketAddress address) throws IOException {
    SSLSocket secured =
        (SSLSocket)
            tls.context()
                .getSocketFactory()
                .createSocket(plain, address.getHostString(), address.getPort(), true);
    secured.setEnabledProtocols(PeerTls.protocols());
    secured.setUseClientMode(true);
    secured.startHandshake();
    in = secured.getInputStream();
    out = secured.getOutputStream();
  }

  private static SocketTimeoutException late(@Nullable Exception cause) {
    SocketTimeoutException late = new SocketTimeoutException("it does not answer in time");
    late.initCause(cause);
    return late;
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  /** Asks; {@code nanos} is the time that each step has from now on. */
  void ask(int verb, ItemKey key, int length, long nanos) throws IOException {
    patience = nanos;
    deadline.in(nanos);
    Wire.putRequest(request, verb, key, length);
    out.write(request);
    end();
  }

  /**
   * What the answer is, which has to come within {@code nanos}; {@link #following} bytes come after
   * it, and the deadline is set on.
   */
  int answer(long nanos) throws IOException {
    deadline.in(nanos);
    read(answer, 0, answer.length);
    deadline.in(patience);
    return ByteBuffer.wrap(answer).getInt(0);
  }

  /** As the latest answer said. */
  int following() {
    return ByteBuffer.wrap(answer).getInt(4);
  }

  /** Reads so many bytes, at least a window of them within each deadline. */
  void read(byte[] target, int offset, int length) throws IOException {
    int windowEnd = Wire.WINDOW;
    int done = 0;
    while (done < length) {
      int count = in.read(target, offset + done, length - done);
      if (count < 0) {
        throw new EOFException("it ends in the middle");
      }
      done += count;
      if (done >= windowEnd && done < length) {
        windowEnd = done + Wire.WINDOW;
        deadline.in(patience);
      }
    }
  }

  /** Ends a question; throws if its time has passed. */
  void end() throws IOException {
    if (!deadline.end()) {
      throw late(null);
    }
  }

  /** From now on this thread reads storage, and the owner hears that it is alive. */
  void claim() throws IOException {
    end();
    synchronized (writing) {
      claiming = true;
      lastSign = System.nanoTime();
    }
    watch.wake();
  }

  /** Gives back the claim. */
  void giveUp() throws IOException {
    synchronized (writing) {
      claiming = false;
      deadline.in(patience);
      out.write(GIVE_UP);
    }
    end();
  }

  /** Delivers what was claimed; an answer comes. */
  void deliver(byte[] item) throws IOException {
    synchronized (writing) {
      claiming = false;
      deadline.in(patience);
      out.write(BYTES);
    }
    for (int at = 0; at < item.length; at += Wire.WINDOW) {
      out.write(item, at, Math.min(Wire.WINDOW, item.length - at));
      deadline.in(patience);
    }
  }

  @Override
  public boolean look(long now) {
    if (deadline.pass(now)) {
      close();
      return false;
    }
    synchronized (writing) {
      if (claiming && now - lastSign >= Timing.SIGN.toNanos()) {
        lastSign = now;
        try {
          out.write(STILL);
        } catch (IOException e) {
          claiming = false; // The claimant meets it when he delivers.
        }
      }
      return claiming || deadline.set();
    }
  }

  /** Whether it was cut off. */
  boolean late() {
    return deadline.passed();
  }

  void unused(long now) {
    unusedSince = now;
  }

  long unusedSince() {
    return unusedSince;
  }

  /** Without a word to the other side, so that it does not wait: under TLS too. */
  @Override
  public void close() {
    watch.remove(this);
    try {
      plain.close();
    } catch (IOException ignored) {
      // It is of no use any more.
    }
  }
}
