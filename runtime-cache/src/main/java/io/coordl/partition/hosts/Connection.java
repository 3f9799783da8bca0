package io.coordl.partition.hosts;

import io.coordl.cache.ItemKey;
import io.coordl.partition.Deadline;
import io.coordl.partition.Timeouts;
import io.coordl.partition.Watch;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import javax.net.ssl.SSLSocket;

/**
 * A client's connection to a peer, of one thread at a time. A {@link Socket}, not a channel: that
 * would be closed when the program interrupts its thread. Every step that takes too long ends with
 * a {@link SocketTimeoutException}.
 */
final class Connection implements Closeable {
  /** Between two signs of life of a claimant that is reading storage. */
  private static final Duration SIGN = Duration.ofMillis(100);

  private static final byte[] STILL = number(Wire.STILL);
  private static final byte[] BYTES = number(Wire.BYTES);
  private static final byte[] GIVE_UP = number(Wire.GIVE_UP);

  private final Socket plain = new Socket(Proxy.NO_PROXY);
  private final Watch watch;
  private final Watch.Watched signs = this::sign;
  private final Deadline deadline;
  private final InputStream in;
  private final OutputStream out;
  private final byte[] request = new byte[Wire.REQUEST_BYTES];
  private final byte[] answer = new byte[Wire.ANSWER_BYTES];
  private final Object writing = new Object();
  private long patience;
  private boolean claiming;
  private long lastSign;

  /** Connects and exchanges hellos, each within {@code patience} nanoseconds. */
  Connection(InetSocketAddress address, PeerClient.Common common, long patience)
      throws IOException {
    this.watch = common.watch();
    this.deadline = new Deadline(watch, plain);
    this.patience = patience;
    boolean opened = false;
    try {
      plain.setTcpNoDelay(true);
      long connect = Math.min(common.timeouts().connect().toNanos(), patience);
      plain.connect(address, (int) Math.max(1, connect / 1_000_000));
      deadline.in(patience);
      PeerTls tls = common.tls();
      Socket trusted = tls == null ? plain : secure(tls, address);
      in = trusted.getInputStream();
      out = trusted.getOutputStream();
      out.write(Wire.hello(common.group()));
      Wire.checkHello(this::read, common.group());
      end();
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

  private Socket secure(PeerTls tls, InetSocketAddress address) throws IOException {
    SSLSocket secured = tls.socket(plain, address.getHostString(), address.getPort());
    secured.setUseClientMode(true);
    secured.startHandshake();
    return secured;
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
    int windowEnd = Timeouts.WINDOW;
    int done = 0;
    while (done < length) {
      int count = in.read(target, offset + done, length - done);
      if (count < 0) {
        throw new EOFException("it ends in the middle");
      }
      done += count;
      if (done >= windowEnd && done < length) {
        windowEnd = done + Timeouts.WINDOW;
        deadline.in(patience);
      }
    }
  }

  /** Ends a question. */
  void end() throws IOException {
    if (!deadline.end()) {
      throw new SocketTimeoutException();
    }
  }

  /** From now on this thread reads storage, and the owner hears that it is alive. */
  void claim() throws IOException {
    end();
    synchronized (writing) {
      claiming = true;
      lastSign = System.nanoTime();
    }
    watch.add(signs);
    watch.wake();
  }

  private boolean sign(long now) {
    synchronized (writing) {
      if (claiming && now - lastSign >= SIGN.toNanos()) {
        lastSign = now;
        try {
          out.write(STILL);
        } catch (IOException e) {
          claiming = false; // The claimant meets it when it delivers.
        }
      }
      return claiming;
    }
  }

  private void endClaim(byte[] how) throws IOException {
    watch.remove(signs);
    synchronized (writing) {
      claiming = false;
      deadline.in(patience);
      out.write(how);
    }
  }

  /** Gives back the claim. */
  void giveUp() throws IOException {
    endClaim(GIVE_UP);
    end();
  }

  /** Delivers what was claimed; an answer comes. */
  void deliver(byte[] item) throws IOException {
    endClaim(BYTES);
    for (int at = 0; at < item.length; at += Timeouts.WINDOW) {
      out.write(item, at, Math.min(Timeouts.WINDOW, item.length - at));
      deadline.in(patience);
    }
  }

  /** Whether it was cut off. */
  boolean late() {
    return deadline.passed();
  }

  /** Without a word to the other side, so that it does not wait: under TLS too. */
  @Override
  public void close() {
    watch.remove(signs);
    deadline.close();
  }
}
