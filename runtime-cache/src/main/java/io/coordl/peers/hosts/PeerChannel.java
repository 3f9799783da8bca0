package io.coordl.peers.hosts;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * The owner's side of a connection; reads and writes nothing until the client has authenticated.
 */
final class PeerChannel {
  /** Payload size of one TLS record. */
  private static final int RECORD = 16 << 10;

  private final byte[] record = new byte[RECORD];
  private InputStream in = InputStream.nullInputStream();
  private OutputStream out = OutputStream.nullOutputStream();

  void secure(SSLContext tls, Socket plain) throws IOException {
    SSLSocket secured = PeerTls.over(tls, plain, false);
    in = secured.getInputStream();
    out = secured.getOutputStream();
  }

  void read(byte[] target, int offset, int length) throws IOException {
    if (in.readNBytes(target, offset, length) < length) {
      throw new EOFException();
    }
  }

  /** Writes the remaining bytes of both buffers. */
  void write(ByteBuffer head, @Nullable ByteBuffer body) throws IOException {
    int filled = 0;
    for (ByteBuffer part : body == null ? List.of(head) : List.of(head, body)) {
      while (part.hasRemaining()) {
        int count = Math.min(RECORD - filled, part.remaining());
        part.get(record, filled, count);
        filled += count;
        if (filled == RECORD) {
          out.write(record);
          filled = 0;
        }
      }
    }
    if (filled > 0) {
      out.write(record, 0, filled);
    }
  }
}
