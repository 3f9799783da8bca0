package io.coordl.partition;

import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;

/**
 * A client's connection, of one thread at a time, of which each step has a deadline: once that
 * passes, the {@link Watch} closes the connection, and the step fails. A {@link Socket}, not a
 * channel: that would be closed when the program interrupts its thread.
 */
public final class BoundedSocket implements Closeable {
  private final Socket plain = new Socket(Proxy.NO_PROXY);
  private final Deadline deadline;
  private final InputStream in;
  private final OutputStream out;
  private long patience;

  @FunctionalInterface
  public interface Security {
    /** TLS over the socket after its handshake, or the socket itself. */
    Socket over(Socket connected) throws IOException;
  }

  /**
   * Connects; the first step, which includes the handshake of TLS, is then under way.
   *
   * @param patience nanoseconds that each step has
   * @throws SocketTimeoutException if that took too long
   */
  public BoundedSocket(
      InetSocketAddress address, Watch watch, Timeouts timeouts, long patience, Security security)
      throws IOException {
    this.deadline = new Deadline(watch, plain);
    this.patience = patience;
    try {
      plain.setTcpNoDelay(true);
      long connect = Math.min(timeouts.connect().toNanos(), patience);
      plain.connect(address, (int) Math.max(1, connect / 1_000_000));
      begin(patience);
      Socket trusted = security.over(plain);
      in = trusted.getInputStream();
      out = new Pieces(trusted.getOutputStream());
    } catch (IOException | RuntimeException e) {
      fail();
      throw e;
    }
  }

  /** From now on each step has so many nanoseconds. */
  public void patience(long nanos) {
    patience = nanos;
  }

  public void begin() {
    begin(patience);
  }

  /** Begins a step that has another deadline. */
  public void begin(long nanos) {
    deadline.in(nanos);
  }

  /** Ends the last step of several: from now on nothing is waited for. */
  public void end() throws SocketTimeoutException {
    if (!deadline.end()) {
      throw new SocketTimeoutException();
    }
  }

  public InputStream in() {
    return in;
  }

  /** Bytes for the other side; the deadline is set on for each window of them. */
  public OutputStream out() {
    return out;
  }

  /** Reads exactly so many bytes; the deadline is set on for each window of them. */
  public void read(InputStream from, byte[] target, int offset, int length) throws IOException {
    int windowEnd = Timeouts.WINDOW;
    int done = 0;
    while (done < length) {
      int count = from.read(target, offset + done, length - done);
      if (count < 0) {
        throw new EOFException("it ends in the middle");
      }
      done += count;
      if (done >= windowEnd && done < length) {
        windowEnd = done + Timeouts.WINDOW;
        begin();
      }
    }
  }

  public boolean late() {
    return deadline.passed();
  }

  /** Closes a connection that has failed; throws if it failed because a deadline had passed. */
  public void fail() throws SocketTimeoutException {
    boolean late = late();
    close();
    if (late) {
      throw new SocketTimeoutException();
    }
  }

  /** Says nothing to the other side, so that it does not wait: under TLS too. */
  @Override
  public void close() {
    deadline.close();
  }

  /** Gives the kernel a window at a time: a write that blocks is seen. */
  private final class Pieces extends FilterOutputStream {
    Pieces(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      for (int done = 0; done < length; done += Timeouts.WINDOW) {
        if (done > 0) {
          begin();
        }
        out.write(source, offset + done, Math.min(Timeouts.WINDOW, length - done));
      }
    }
  }
}
