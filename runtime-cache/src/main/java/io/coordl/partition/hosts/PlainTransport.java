package io.coordl.partition.hosts;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** In the clear: items go from the store's memory to the kernel, without a copy of ours. */
final class PlainTransport implements PeerSession.Transport {
  private final SocketChannel channel;

  PlainTransport(SocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      // A window at a time: the channel keeps a direct buffer as large as the largest read.
      int count = Math.min(Wire.WINDOW, length - done);
      int read = channel.read(ByteBuffer.wrap(target, offset + done, count));
      if (read < 0) {
        throw new EOFException();
      }
      done += read;
    }
  }

  @Override
  public void write(ByteBuffer head, @Nullable ByteBuffer body) throws IOException {
    if (body == null) {
      while (head.hasRemaining()) {
        channel.write(head);
      }
      return;
    }
    ByteBuffer[] both = {head, body};
    while (head.hasRemaining() || body.hasRemaining()) {
      channel.write(both);
    }
  }
}
