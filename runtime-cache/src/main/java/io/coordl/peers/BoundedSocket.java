package io.coordl.peers;

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
 * A client's connection, used by one thread at a time. Each step has a deadline; once it passes,
 * the {@link Watch} closes the connection and the step fails. Uses a {@link Socket}, because an
 * interrupt by the program would close a channel.
 */
public final class BoundedSocket implements Closeable {
  private final Socket plain = new Socket(Proxy.NO_PROXY);
  private final Deadline deadline;
  private final InputStream in;
  private final OutputStream out;
  private long patience;

  @FunctionalInterface
  public interface Security {
    /** Performs the TLS handshake over the socket; may return the socket itself. */
    Socket over(Socket connected) throws IOException;
  }

  /**
   * Connects and starts the first step, which includes the TLS handshake.
   *
   * @param patience time limit of each step, in nanoseconds
   * @throws SocketTimeoutException if connecting or the handshake took too long
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
      out = new WindowedOutput(trusted.getOutputStream());
    } catch (IOException | RuntimeException e) {
      fail();
      throw e;
    }
  }

  /** Sets the time limit that {@link #begin()} uses from now on. */
  public void patience(long nanos) {
    patience = nanos;
  }

  public void begin() {
    begin(patience);
  }

  /** Starts a step with its own time limit. */
  public void begin(long nanos) {
    deadline.in(nanos);
  }

  /** Ends the current step and clears its deadline. */
  public void end() throws SocketTimeoutException {
    if (!deadline.end()) {
      throw new SocketTimeoutException();
    }
  }

  public InputStream in() {
    return in;
  }

  /** Returns the stream to the other side; each window of bytes renews the deadline. */
  public OutputStream out() {
    return out;
  }

  /** Reads exactly {@code length} bytes; each window of bytes renews the deadline. */
  public void read(InputStream from, byte[] target, int offset, int length) throws IOException {
    int windowEnd = Timeouts.WINDOW;
    int done = 0;
    while (done < length) {
      int count = from.read(target, offset + done, length - done);
      if (count < 0) {
        throw new EOFException("the connection was closed early");
      }
      done += count;
      if (done >= windowEnd && done < length) {
        windowEnd = done + Timeouts.WINDOW;
        begin();
      }
    }
  }

  public boolean isLate() {
    return deadline.passed();
  }

  /** Closes a failed connection; throws if a missed deadline caused the failure. */
  public void fail() throws SocketTimeoutException {
    boolean late = isLate();
    close();
    if (late) {
      throw new SocketTimeoutException();
    }
  }

  /** Closes the connection without TLS close messages, so that closing never blocks. */
  @Override
  public void close() {
    deadline.close();
  }

  /** Writes one window at a time, each with its own deadline. */
  private final class WindowedOutput extends FilterOutputStream {
    WindowedOutput(OutputStream out) {
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
