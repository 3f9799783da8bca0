package io.coordl.partition.hosts;

import io.coordl.partition.Timeouts;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * How bytes come and go at the owner's side. In the clear, items go from the store's memory to the
 * kernel, without a copy of ours; under TLS, only to a client that has proved who it is.
 */
final class PeerChannel {
  /** What one record of TLS holds. */
  private static final int RECORD = 16 << 10;

  private static final byte[] NONE = {};

  private final SocketChannel channel;
  private byte[] record = NONE;
  private @Nullable InputStream in;
  private @Nullable OutputStream out;

  PeerChannel(SocketChannel channel) {
    this.channel = channel;
  }

  void secure(SSLContext tls) throws IOException {
    SSLSocket secured = PeerTls.over(tls, channel.socket(), false);
    record = new byte[RECORD];
    in = secured.getInputStream();
    out = secured.getOutputStream();
  }

  void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      // A window at a time: the channel keeps a direct buffer as large as the largest read.
      int at = offset + done;
      int count = Math.min(Timeouts.WINDOW, length - done);
      int read =
          in == null
              ? channel.read(ByteBuffer.wrap(target, at, count))
              : in.read(target, at, count);
      if (read < 0) {
        throw new EOFException();
      }
      done += read;
    }
  }

  /** Writes all that remains of both. */
  void write(ByteBuffer head, @Nullable ByteBuffer body) throws IOException {
    ByteBuffer[] both = {head, body == null ? ByteBuffer.wrap(NONE) : body};
    if (out == null) {
      while (both[0].hasRemaining() || both[1].hasRemaining()) {
        channel.write(both);
      }
      return;
    }
    int filled = 0;
    for (ByteBuffer part : both) {
      while (part.hasRemaining()) {
        int count = Math.min(RECORD - filled, part.remaining());
        part.get(record, filled, count);
        filled += count;
        if (filled == RECORD || !both[1].hasRemaining()) {
          out.write(record, 0, filled);
          filled = 0;
        }
      }
    }
  }
}
