package io.coordl.partition.hosts;

import io.coordl.cache.ArenaStore;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Serves the items of this host's store to other hosts. */
public final class PeerServer implements Closeable {
  private final ServerSocketChannel listening;
  private final InetSocketAddress address;

  private PeerServer(ServerSocketChannel listening) throws IOException {
    this.listening = listening;
    this.address = (InetSocketAddress) listening.getLocalAddress();
  }

  /**
   * Listens at {@code bind}, and nowhere else.
   *
   * @param group of jobs; only those of the same are served
   * @param words takes sentences for the user
   * @throws IOException with a sentence for the user if the address cannot be had
   */
  public static PeerServer open(
      InetSocketAddress bind,
      ArenaStore store,
      @Nullable PeerTls tls,
      String group,
      Consumer<String> words)
      throws IOException {
    ServerSocketChannel listening = ServerSocketChannel.open();
    listening.bind(bind);
    return new PeerServer(listening);
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** Stops serving. Does not throw. */
  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException ignored) {
      // Nothing was buffered.
    }
  }
}
