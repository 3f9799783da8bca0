package io.coordl.partition.hosts;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.Loader;
import io.coordl.partition.Engine;
import io.coordl.partition.PeerSink;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The memory of all hosts of a membership, each item in that of one. */
public final class HostsEngine implements Engine {
  private final ArenaStore local;
  private final Membership membership;

  /**
   * An engine of this job; asks nobody yet.
   *
   * @param local the store of this host
   * @param membership who else is there; closed with the engine
   * @param tls null to speak in the clear
   * @param awaitedHosts the first fetch waits for so many members, at most a minute
   * @param group of jobs; hosts of another are not asked
   * @param sink hears of every question
   * @param words takes sentences for the user
   */
  public HostsEngine(
      ArenaStore local,
      Membership membership,
      @Nullable PeerTls tls,
      int awaitedHosts,
      String group,
      PeerSink sink,
      Consumer<String> words) {
    this.local = local;
    this.membership = membership;
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    return local.fetch(key, length, loader);
  }

  @Override
  public void close() {
    membership.close();
  }
}
