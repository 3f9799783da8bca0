package io.coordl.partition.redis;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A socket on which one call at a time runs, and which another thread closes when that call makes
 * no progress, or takes too long, or reads more than it has asked for: so a blocked write ends,
 * too, and a server that lies costs no memory. TLS, where there is any, runs on top.
 *
 * <p>One thread uses the socket; any other may {@link #closeIfOverdue}.
 */
final class WatchedSocket extends Socket {
  /**
   * How long a call may take beyond its patience: what is slower than a megabyte a second is no
   * faster than storage.
   */
  private static final long NANOS_PER_BYTE = 1_000;

  /** So much of a message is given to the kernel at once, as the JDK does. */
  private static final int PIECE = 128 * 1024;

  private static final long SMALL_TALK_BYTES = 64 * 1024;
  private static final long LATE = -1;

  /** Number of the call: odd while it runs; {@link #LATE} for good once one was too late. */
  private final AtomicLong call = new AtomicLong();

  private volatile long started;
  private volatile long moved;
  private volatile long mostNanos;
  private volatile long stillNanos;
  private long readable;
  private @Nullable InputStream in;
  private @Nullable OutputStream out;

  /** An unconnected socket, which sends at once what is written. */
  WatchedSocket() throws IOException {
    setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /**
   * A call starts in which {@code bytes} may be sent or received, and as much small talk as is
   * needed.
   *
   * @param patienceNanos how long no byte may move
   */
  void begin(long bytes, long patienceNanos) {
    stillNanos = patienceNanos;
    readable = bytes + bytes / 8 + SMALL_TALK_BYTES;
    started = System.nanoTime();
    moved = started;
    mostNanos = patienceNanos + bytes * NANOS_PER_BYTE;
    long idle = call.get();
    if (idle != LATE) {
      call.set(idle + 1);
    }
  }

  /**
   * The call is over.
   *
   * @return false if it was too late, and the socket is closed
   */
  boolean end() {
    long running = call.get();
    return running != LATE && call.compareAndSet(running, running + 1);
  }

  /** Whether the socket was closed because a call was too late. */
  boolean wasLate() {
    return call.get() == LATE;
  }

  /** Closes the socket if its call is overdue. Any thread. */
  void closeIfOverdue(long now) {
    long running = call.get();
    boolean overdue = now - moved > stillNanos || now - started > mostNanos;
    if (running != LATE && (running & 1) != 0 && overdue && call.compareAndSet(running, LATE)) {
      closeQuietly();
    }
  }

  /** Closes the socket; blocked calls end. Any thread. */
  void closeQuietly() {
    try {
      close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
  }

  @Override
  public InputStream getInputStream() throws IOException {
    if (in == null) {
      in = new Input(super.getInputStream());
    }
    return in;
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    if (out == null) {
      out = new Output(super.getOutputStream());
    }
    return out;
  }

  private final class Input extends FilterInputStream {
    Input(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = in.read(target, offset, length);
      moved = System.nanoTime();
      readable -= count;
      if (readable < 0) {
        throw new IOException("The answer is longer than what was asked for");
      }
      return count;
    }
  }

  private final class Output extends FilterOutputStream {
    Output(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int value) throws IOException {
      out.write(value);
      moved = System.nanoTime();
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      for (int done = 0; done < length; done += PIECE) {
        out.write(source, offset + done, Math.min(PIECE, length - done));
        moved = System.nanoTime();
      }
    }
  }
}
