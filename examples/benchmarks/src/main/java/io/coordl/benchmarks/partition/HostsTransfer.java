package io.coordl.benchmarks.partition;

import io.coordl.items.ItemKey;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.HostsEngine;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.Membership;
import io.coordl.peers.hosts.PeerServer;
import io.coordl.peers.hosts.PeerTls;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * Our engine for {@code peer=HOST:PORT}: one host has all items, the other has no room for them.
 */
final class HostsTransfer implements Transfer {
  private static final String GROUP = "benchmark";
  private static final String MIN_BUDGET = "1m";

  private final HostsEngine engine;
  private final ArenaStore own;
  private final int bytes;

  HostsTransfer(InetSocketAddress server, Items items, Path secret) throws IOException {
    bytes = items.bytes();
    own = store(MIN_BUDGET);
    engine =
        new HostsEngine(
            own,
            new TwoMembers(server),
            PeerTls.ofSecret(secret),
            2,
            GROUP,
            HostsTransfer::ignore,
            HostsTransfer::print,
            Timeouts.USUAL);
    while (engine.fetch(key(0), bytes, (target, offset) -> false).outcome() != Outcome.PEER) {
      Thread.onSpinWait();
    }
  }

  static void serve(InetSocketAddress at, Items items, Path secret) throws IOException {
    ArenaStore store = store(Long.toString(2L * items.count() * items.bytes()));
    for (int i = 0; i < items.count(); i++) {
      byte[] content = items.content(i);
      Fetched put =
          store.fetch(
              key(i),
              content.length,
              (target, offset) -> {
                System.arraycopy(content, 0, target, offset, content.length);
                return true;
              });
      if (put.outcome() != Outcome.ADMITTED) {
        throw new IllegalStateException("The store did not keep item " + i + ": " + put.outcome());
      }
    }
    // Serves until the JVM ends.
    new PeerServer(
        at, store, PeerTls.ofSecret(secret), GROUP, HostsTransfer::print, Timeouts.USUAL);
  }

  private static ArenaStore store(String budget) {
    ArenaStore store =
        ArenaStore.openProcess(
            ArenaStore.SHARED_MEMORY, ByteBudget.parse(budget), HostsTransfer::print);
    if (store == null) {
      throw new IllegalStateException("There is no memory for the store.");
    }
    return store;
  }

  private static ItemKey key(int item) {
    return new ItemKey(item * 0x9E3779B97F4A7C15L, item);
  }

  private static void print(String sentence) {
    System.err.println(sentence);
  }

  private static void ignore(String peer, long start, long end, long length, Object answer) {}

  @Override
  public int get(int item) throws IOException {
    Fetched fetched = engine.fetch(key(item), bytes, (target, offset) -> false);
    ByteBuffer content = fetched.content();
    if (content == null || fetched.outcome() != Outcome.PEER) {
      throw new IllegalStateException("Item " + item + " did not come from the other host.");
    }
    return Items.ends(content);
  }

  @Override
  public void close() {
    engine.close();
    own.close();
  }

  /** The members: the host with the items, and this one. */
  private record TwoMembers(List<Member> members, String self) implements Membership {
    TwoMembers(InetSocketAddress server) {
      this(
          List.of(
              new Member(
                  "client", new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), 1 << 20),
              new Member("server", server, 1L << 30)),
          "client");
    }

    @Override
    public void close() {}
  }
}
