package io.coordl.partition.hosts.membership;

import io.coordl.log.OnceLog;
import io.coordl.partition.HostPort;
import io.coordl.partition.hosts.Member;
import io.coordl.partition.hosts.membership.ViewFile.View;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the leading job of a host does for all of them: serves the items, stands in the cluster,
 * looks for others and tells the view. Of one thread alone.
 */
final class HostLeader implements Closeable {
  /** Names are looked up so often; hosts come late, and get other addresses. */
  private static final long LOOK_NANOS = Duration.ofSeconds(5).toNanos();

  /**
   * How long a host that vanished stays listed: longer than another job of it needs to take over,
   * and than a short cut needs to heal. Nobody waits for it meanwhile; see {@code HostsEngine}.
   */
  private static final long GRACE_NANOS = Duration.ofSeconds(15).toNanos();

  private final HostMembership.Settings settings;
  private final @Nullable DirectoryDiscovery directory;
  private final InetSocketAddress own;
  private final Roster roster;
  private final Closeable server;
  private final OnceLog log;
  private final Cluster cluster;
  private long lookedNanos = System.nanoTime();

  /**
   * Begins to serve, then to stand in the cluster.
   *
   * @param before what the last leader told
   * @param changed called when there is a new view, on any thread
   * @throws IOException with a sentence for the user
   * @throws IllegalArgumentException likewise
   */
  HostLeader(
      HostMembership.Settings settings,
      HostMembership.ItemServer items,
      List<Member> before,
      Runnable changed,
      OnceLog log)
      throws IOException {
    this.settings = settings;
    this.log = log;
    Discovery peers = settings.peers();
    Path path = peers.directory();
    directory = path == null ? null : new DirectoryDiscovery(path, log::once);
    Set<InetSocketAddress> listed = peers.addresses(settings.environment());
    own = new OwnAddress().find(settings.bind(), listed, peers.port());
    InetSocketAddress data = new InetSocketAddress(own.getAddress(), own.getPort() + 1);
    Member self = new Member(HostPort.text(own), data, settings.capacity().getAsLong());
    roster = new Roster(before, System.nanoTime(), GRACE_NANOS);
    server = items.open(data);
    try {
      cluster =
          Cluster.join(
              Hello.of(self, settings.group()),
              own,
              look(),
              settings.tls(),
              members -> {
                roster.see(members, System.nanoTime());
                changed.run();
              },
              log);
    } catch (IOException | RuntimeException | Error e) {
      leave();
      throw e;
    }
  }

  private Set<InetSocketAddress> look() throws IOException {
    return directory == null
        ? settings.peers().addresses(settings.environment())
        : directory.visit(own);
  }

  /** What is to be told now; looks for others now and then. */
  View view() {
    long now = System.nanoTime();
    if (now - lookedNanos >= LOOK_NANOS) {
      lookedNanos = now;
      try {
        cluster.lookAt(look());
      } catch (IOException e) {
        log.once("" + e.getMessage());
      }
    }
    return new View(HostPort.text(own), roster.members(now));
  }

  /** Leaves the cluster, then serves no more. */
  @Override
  public void close() {
    cluster.close();
    leave();
  }

  private void leave() {
    if (directory != null) {
      directory.leave(own);
    }
    try {
      server.close();
    } catch (IOException e) {
      log.once("The server of " + HostPort.text(own) + " cannot be closed (" + e + ").");
    }
  }
}
