package io.coordl.benchmarks.partition;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Blocking sockets and reused direct buffers, with a connection and a server thread per requesting
 * thread: a lower bound on the cost of any engine.
 */
final class RawSockets implements Transfer {
  private final InetSocketAddress server;
  private final int bytes;
  private final ThreadLocal<SocketChannel> channels = ThreadLocal.withInitial(this::connect);
  private final ThreadLocal<ByteBuffer> buffers;

  RawSockets(InetSocketAddress server, int bytes) {
    this.server = server;
    this.bytes = bytes;
    this.buffers = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(bytes));
  }

  static void serve(InetSocketAddress at, Items items) throws IOException {
    ByteBuffer[] all = items.direct();
    ServerSocketChannel server = ServerSocketChannel.open().bind(at);
    TransferSide.daemon(
        () -> {
          while (true) {
            SocketChannel peer = server.accept();
            TransferSide.daemon(() -> serveItems(peer, all));
          }
        });
  }

  private static void serveItems(SocketChannel peer, ByteBuffer[] all) throws IOException {
    peer.setOption(StandardSocketOptions.TCP_NODELAY, true);
    ByteBuffer request = ByteBuffer.allocateDirect(Integer.BYTES);
    while (true) {
      request.clear();
      fill(peer, request);
      ByteBuffer item = all[request.getInt(0)].duplicate();
      while (item.hasRemaining()) {
        peer.write(item);
      }
    }
  }

  private static void fill(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException();
      }
    }
  }

  private SocketChannel connect() {
    try {
      SocketChannel channel = SocketChannel.open(server);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      return channel;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public int get(int item) throws IOException {
    SocketChannel channel = channels.get();
    ByteBuffer buffer = buffers.get().clear().limit(Integer.BYTES).putInt(0, item);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    buffer.clear().limit(bytes);
    fill(channel, buffer);
    return Items.ends(buffer.flip());
  }

  @Override
  public void close() {}
}
