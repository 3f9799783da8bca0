package io.coordl.peers.hosts.membership;

import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.membership.ViewFile.View;
import io.coordl.telemetry.log.OnceLog;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The work that the leading job of a host does for all jobs of the host: serves the items,
 * represents the host in the cluster, discovers other hosts and publishes the view. Used by one
 * thread only.
 */
final class HostLeader implements Closeable {
  /** Interval of name lookups; hosts may join late, and their addresses may change. */
  private static final long LOOKUP_NANOS = Duration.ofSeconds(5).toNanos();

  /**
   * How long a lost host stays in the view: long enough for another of its jobs to take over, or
   * for a short network partition to heal. Fetches do not wait for the host; see {@code
   * HostsEngine}.
   */
  private static final long GRACE_NANOS = Duration.ofSeconds(15).toNanos();

  private final HostMembership.Settings settings;
  private final @Nullable DirectoryDiscovery directory;
  private final InetSocketAddress own;
  private final Roster roster;
  private final Closeable server;
  private final OnceLog log;
  private final Cluster cluster;
  private long lookupNanos = System.nanoTime();

  /**
   * Starts serving, then joins the cluster.
   *
   * @param before members that the previous leader published
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
              discover(),
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

  private Set<InetSocketAddress> discover() throws IOException {
    return directory == null
        ? settings.peers().addresses(settings.environment())
        : directory.visit(own);
  }

  /** Returns the current view; also discovers other hosts periodically. */
  View view() {
    long now = System.nanoTime();
    if (now - lookupNanos >= LOOKUP_NANOS) {
      lookupNanos = now;
      try {
        cluster.lookAt(discover());
      } catch (IOException e) {
        log.once("" + e.getMessage());
      }
    }
    return new View(HostPort.text(own), roster.members(now));
  }

  /** Leaves the cluster, then stops serving. */
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
