package io.coordl.partition.hosts.membership;

import io.coordl.partition.hosts.Member;
import io.coordl.partition.hosts.membership.ViewFile.View;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one job does for all of its host: serves the items, stands in the cluster, looks for others
 * and tells the view. Of one thread alone.
 */
final class Carrier implements Closeable {
  /** Names are looked up so often; hosts come late, and get other addresses. */
  private static final long LOOK_NANOS = Duration.ofSeconds(5).toNanos();

  /**
   * How long who vanished stays listed: longer than another job of his host needs to take over, and
   * than a short cut needs to heal. Nobody waits for him meanwhile; see {@code HostsEngine}.
   */
  private static final long GRACE_NANOS = Duration.ofSeconds(15).toNanos();

  private final HostMembership.Settings settings;
  private final InetSocketAddress own;
  private final Roster roster;
  private final Closeable server;
  private final Consumer<String> words;
  private @Nullable Cluster cluster;
  private long lookedNanos;

  private Carrier(
      HostMembership.Settings settings,
      InetSocketAddress own,
      Roster roster,
      Closeable server,
      Consumer<String> words) {
    this.settings = settings;
    this.own = own;
    this.roster = roster;
    this.server = server;
    this.words = words;
  }

  /**
   * Begins to serve, then to stand in the cluster.
   *
   * @param before what the last carrier told
   * @param changed called when there is a new view, on any thread
   * @throws IOException with a sentence for the user
   * @throws IllegalArgumentException likewise
   */
  static Carrier start(
      HostMembership.Settings settings,
      HostMembership.Carried carried,
      List<Member> before,
      Runnable changed,
      Consumer<String> words)
      throws IOException {
    Peers peers = settings.peers();
    List<HostPort> hosts = peers.hosts(settings.environment());
    Set<InetSocketAddress> listed = Peers.resolve(hosts);
    InetSocketAddress own = new OwnAddress().find(settings.bind(), listed, peers.port());
    InetSocketAddress data = new InetSocketAddress(own.getAddress(), own.getPort() + 1);
    Member self = new Member(HostPort.text(own), data, settings.capacity());
    Roster roster = new Roster(before, System.nanoTime(), GRACE_NANOS);
    Carrier carrier = new Carrier(settings, own, roster, carried.open(data), words);
    try {
      carrier.cluster =
          Cluster.join(
              Hello.of(self, settings.group()),
              own,
              carrier.look(hosts),
              settings.tls(),
              members -> {
                roster.see(members, System.nanoTime());
                changed.run();
              },
              words);
      carrier.lookedNanos = System.nanoTime();
      return carrier;
    } finally {
      if (carrier.cluster == null) {
        carrier.close();
      }
    }
  }

  private Set<InetSocketAddress> look(List<HostPort> hosts) throws IOException {
    return settings.peers() instanceof Peers.Directory directory
        ? new Rendezvous(directory.path(), words).visit(own)
        : Peers.resolve(hosts);
  }

  /** What is to be told now; looks for others now and then. */
  View view() {
    long now = System.nanoTime();
    Cluster joined = cluster;
    if (joined != null && now - lookedNanos >= LOOK_NANOS) {
      lookedNanos = now;
      try {
        joined.lookAt(look(settings.peers().hosts(settings.environment())));
      } catch (IOException e) {
        words.accept(String.valueOf(e.getMessage()));
      }
    }
    return new View(HostPort.text(own), new ArrayList<>(roster.members(now)));
  }

  /** Leaves the cluster, then serves no more. */
  @Override
  public void close() {
    if (settings.peers() instanceof Peers.Directory directory) {
      new Rendezvous(directory.path(), words).leave(own);
    }
    Cluster joined = cluster;
    if (joined != null) {
      joined.close();
    }
    try {
      server.close();
    } catch (IOException e) {
      words.accept("The server of " + HostPort.text(own) + " cannot be closed (" + e + ").");
    }
  }
}
