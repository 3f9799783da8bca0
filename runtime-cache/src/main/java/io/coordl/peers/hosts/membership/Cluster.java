package io.coordl.peers.hosts.membership;

import io.coordl.peers.hosts.Member;
import io.coordl.telemetry.log.OnceLog;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jgroups.Address;
import org.jgroups.JChannel;
import org.jgroups.PhysicalAddress;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ExtendedUUID;

/**
 * This host in the JGroups cluster. Each host's address contains its {@link Hello}, so every view
 * is complete and CoorDL itself sends no messages.
 *
 * <p>A killed host is detected by its broken connection and removed in less than a second. A host
 * that hangs or is disconnected is detected by missing heartbeats, after about {@link
 * #TIMEOUT_MILLIS}. Partitions of a cluster merge once they can reach each other.
 */
record Cluster(
    JChannel channel,
    PhysicalAddress own,
    Set<PhysicalAddress> hosts,
    Hello self,
    Consumer<List<Member>> views,
    OnceLog log)
    implements Closeable {

  static final int HEARTBEAT_MILLIS = 2_000;
  private static final int TIMEOUT_MILLIS = 8_000;
  private static final int VERIFY_MILLIS = 300;
  private static final int JOIN_MILLIS = 300;
  private static final int LEAVE_MILLIS = 500;

  /**
   * Minimum interval between searches for other partitions; in each search, every host contacts all
   * others.
   */
  private static final int MERGE_MILLIS = 400;

  private static final int MERGE_MILLIS_PER_HOST = 40;

  private static final String NAME = "coordl";
  private static final String HELLO = "coordl";

  /**
   * Joins the reachable hosts, or starts alone; takes up to a few seconds.
   *
   * @param bind the only address to listen on
   * @param views receives each new view, on a JGroups thread: the members of this group and
   *     version, in the order in which they joined
   * @throws IOException with a sentence for the user if the port is not available
   */
  static Cluster join(
      Hello self,
      InetSocketAddress bind,
      Collection<InetSocketAddress> others,
      SSLContext tls,
      Consumer<List<Member>> views,
      OnceLog log)
      throws IOException {
    JChannel channel = null;
    try {
      Refusals.replaceLogs();
      Messages.restrict();
      Transport transport = new Transport(bind, tls, log);
      PhysicalAddress own = new IpAddress(bind.getAddress(), bind.getPort());
      Set<PhysicalAddress> hosts = ConcurrentHashMap.newKeySet();
      hosts.add(own); // JGroups skips it, but rejects an empty set.
      TCPPING discovery = new TCPPING();
      discovery.setInitialHosts2(hosts);
      discovery.asyncDiscoveryUseSeparateThread(true);
      int merge = Math.max(MERGE_MILLIS, others.size() * MERGE_MILLIS_PER_HOST);
      channel =
          new JChannel(
              transport,
              discovery.setPortRange(0),
              new MERGE3().setMaxInterval(3L * merge).setMinInterval(merge),
              new FD_ALL3().setTimeout(TIMEOUT_MILLIS).setInterval(HEARTBEAT_MILLIS),
              new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS),
              new NAKACK2().useMcastXmit(false),
              new UNICAST3(),
              new STABLE().setDesiredAverageGossip(5_000),
              new GMS()
                  .printLocalAddress(false)
                  .printPhysicalAddress(false)
                  .setJoinTimeout(JOIN_MILLIS)
                  .setLeaveTimeout(LEAVE_MILLIS));
      transport.bind();
      Cluster cluster = new Cluster(channel, own, hosts, self, views, log);
      cluster.lookAt(others);
      channel.addAddressGenerator(
          () -> ExtendedUUID.randomUUID(self.name()).put(HELLO, self.encode()));
      channel.setName(self.name());
      channel.setReceiver(
          new Receiver() {
            @Override
            public void viewAccepted(View view) {
              cluster.accept(view);
            }
          });
      channel.connect(NAME);
      return cluster;
    } catch (Exception e) {
      if (channel != null) {
        channel.close();
      }
      Throwable root =
          Stream.<Throwable>iterate(e, Objects::nonNull, Throwable::getCause)
              .reduce(e, (last, next) -> next);
      throw new IOException(self.name() + " cannot join other hosts (" + root + ").", e);
    }
  }

  /** Replaces the addresses at which to search for other hosts; hosts that have joined remain. */
  void lookAt(Collection<InetSocketAddress> others) {
    Set<PhysicalAddress> wanted = new HashSet<>();
    wanted.add(own);
    for (InetSocketAddress other : others) {
      wanted.add(new IpAddress(other.getAddress(), other.getPort()));
    }
    hosts.addAll(wanted);
    hosts.retainAll(wanted);
  }

  private void accept(View view) {
    List<Member> members = new ArrayList<>();
    for (Address address : view.getMembers()) {
      Hello hello =
          address instanceof ExtendedUUID extended ? Hello.decode(extended.get(HELLO)) : null;
      if (hello == null) {
        log.once("A program that is not a CoorDL host has joined the peers; it is ignored.");
      } else if (hello.version() != self.version()) {
        log.once(
            String.format(
                "%s speaks version %s of the peers' protocol, but this agent speaks version %s;"
                    + " that host is ignored.",
                hello.name(), hello.version(), self.version()));
      } else if (hello.group() != self.group()) {
        log.once(hello.name() + " is a peer of another group; it is ignored.");
      } else if (hello.member() != null) {
        members.add(hello.member());
      }
    }
    views.accept(members);
  }

  /** Leaves the cluster; waits until the others have noticed, at most half a second. */
  @Override
  public void close() {
    channel.close();
  }
}
