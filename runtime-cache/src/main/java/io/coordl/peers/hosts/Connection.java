package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import io.coordl.peers.BoundedSocket;
import io.coordl.peers.Watch;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A client's connection to a peer, used by one thread at a time. */
final class Connection implements Closeable {
  /** Interval of the heartbeats that a claimant sends while it reads storage. */
  private static final Duration HEARTBEAT = Duration.ofMillis(100);

  private static final byte[] STILL = number(Wire.STILL);
  private static final byte[] BYTES = number(Wire.BYTES);

  private final Watch watch;
  private final Watch.Watched heartbeats = this::beat;
  private final BoundedSocket socket;
  private final OutputStream out;
  private final byte[] request = new byte[Wire.REQUEST_BYTES];
  private final byte[] answer = new byte[Wire.ANSWER_BYTES];
  private final Object writing = new Object();
  private boolean claiming;
  private long lastBeat;

  /** Connects, then exchanges hellos; each must finish within {@code patience} nanoseconds. */
  Connection(InetSocketAddress address, PeerClient.Common common, long patience)
      throws IOException {
    watch = common.watch();
    socket =
        new BoundedSocket(
            address,
            watch,
            common.timeouts(),
            patience,
            plain -> PeerTls.over(common.tls(), plain, true));
    out = socket.out();
    try {
      out.write(Wire.hello(common.group()));
      Wire.checkHello(this::read, common.group());
      socket.end();
    } catch (IOException | RuntimeException e) {
      socket.fail();
      throw e;
    }
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  /** Sends a request; {@code nanos} is the time limit of each step from now on. */
  void ask(int verb, ItemKey key, int length, long nanos) throws IOException {
    socket.patience(nanos);
    socket.begin();
    Wire.putRequest(request, verb, key, length);
    out.write(request);
    socket.end();
  }

  /**
   * Reads the answer, which must arrive within {@code nanos}, and renews the deadline for the
   * {@link #following} bytes after it.
   */
  int answer(long nanos) throws IOException {
    socket.begin(nanos);
    read(answer, 0, answer.length);
    socket.begin();
    return ByteBuffer.wrap(answer).getInt(0);
  }

  /** Returns the number of bytes after the latest answer. */
  int following() {
    return ByteBuffer.wrap(answer).getInt(4);
  }

  void read(byte[] target, int offset, int length) throws IOException {
    socket.read(socket.in(), target, offset, length);
  }

  void end() throws IOException {
    socket.end();
  }

  /** Starts sending heartbeats to the owner while this thread reads storage. */
  void claim() throws IOException {
    end();
    synchronized (writing) {
      claiming = true;
      lastBeat = System.nanoTime();
    }
    watch.add(heartbeats);
  }

  private void beat(long now) {
    synchronized (writing) {
      if (claiming && now - lastBeat >= HEARTBEAT.toNanos()) {
        lastBeat = now;
        try {
          out.write(STILL);
        } catch (IOException e) {
          claiming = false; // The claimant gets the same failure when it delivers.
        }
      }
    }
  }

  /** Delivers the claimed item; the owner then answers. */
  void deliver(byte[] item) throws IOException {
    watch.remove(heartbeats);
    synchronized (writing) {
      claiming = false;
      socket.begin();
      out.write(BYTES);
    }
    out.write(item);
  }

  boolean isLate() {
    return socket.isLate();
  }

  @Override
  public void close() {
    watch.remove(heartbeats);
    socket.close();
  }
}
