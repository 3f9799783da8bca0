package io.coordl.partition.hosts;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** Under TLS, with a client that has proved who he is. */
final class TlsTransport implements PeerSession.Transport {
  /** What one record of TLS holds. */
  private static final int RECORD = 16 << 10;

  private final InputStream in;
  private final OutputStream out;
  private final byte[] record = new byte[RECORD];

  /** Shakes hands. */
  TlsTransport(SocketChannel channel, PeerTls tls) throws IOException {
    Socket socket = channel.socket();
    SSLSocket secured =
        (SSLSocket)
            tls.context()
                .getSocketFactory()
                .createSocket(
                    socket, socket.getInetAddress().getHostAddress(), socket.getPort(), true);
    secured.setEnabledProtocols(PeerTls.protocols());
    secured.setUseClientMode(false);
    secured.setNeedClientAuth(true);
    secured.startHandshake();
    in = secured.getInputStream();
    out = secured.getOutputStream();
  }

  @Override
  public void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int read = in.read(target, offset + done, length - done);
      if (read < 0) {
        throw new EOFException();
      }
      done += read;
    }
  }

  @Override
  public void write(ByteBuffer head, @Nullable ByteBuffer body) throws IOException {
    int filled = head.remaining();
    head.get(record, 0, filled);
    while (body != null && body.hasRemaining()) {
      int count = Math.min(RECORD - filled, body.remaining());
      body.get(record, filled, count);
      filled += count;
      if (filled == RECORD) {
        out.write(record, 0, filled);
        filled = 0;
      }
    }
    if (filled > 0) {
      out.write(record, 0, filled);
    }
  }
}
