package io.coordl.partition.hosts;

import io.coordl.partition.Timeouts;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
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
  private final @Nullable InputStream in;
  private final @Nullable OutputStream out;
  private final byte[] record;

  /** Shakes hands, under TLS. */
  PeerChannel(SocketChannel channel, @Nullable PeerTls tls) throws IOException {
    this.channel = channel;
    record = tls == null ? NONE : new byte[RECORD];
    if (tls == null) {
      in = null;
      out = null;
    } else {
      Socket socket = channel.socket();
      String host = socket.getInetAddress().getHostAddress();
      SSLSocket secured = tls.socket(socket, host, socket.getPort());
      secured.setUseClientMode(false);
      secured.setNeedClientAuth(true);
      secured.startHandshake();
      in = secured.getInputStream();
      out = secured.getOutputStream();
    }
  }

  /** Reads exactly so many. */
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
        if (filled == RECORD) {
          out.write(record, 0, filled);
          filled = 0;
        }
      }
    }
    if (filled > 0) {
      out.write(record, 0, filled);
    }
  }
}
