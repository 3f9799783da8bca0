package io.coordl.peers.hosts;

import io.coordl.store.ArenaStore;
import io.coordl.store.ItemStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Two hosts for tests of other packages: real engines, connections and servers. */
public final class TwoHosts implements AutoCloseable {
  private final Hosts hosts;

  /** Hosts whose stores are in {@code directory}. */
  public TwoHosts(Path directory) throws IOException {
    hosts = Hosts.of(2, directory, "64m");
  }

  /** Returns the shared store as host 0 or 1 sees it. */
  public ItemStore engine(int host) {
    return hosts.host(host).engine;
  }

  public List<ArenaStore> stores() {
    return List.of(hosts.host(0).store, hosts.host(1).store);
  }

  @Override
  public void close() {
    hosts.close();
  }
}
