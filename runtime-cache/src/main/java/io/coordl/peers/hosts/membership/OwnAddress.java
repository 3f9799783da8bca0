package io.coordl.peers.hosts.membership;

import io.coordl.peers.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Determines the address that this host listens on; {@code local} tests whether an address belongs
 * to this machine.
 */
record OwnAddress(Predicate<InetAddress> local) {
  OwnAddress() {
    this(OwnAddress::canBeBound);
  }

  /**
   * Returns the given address; else the listed address that belongs to this host; else the address
   * of this host's name. Unless it is given, a loopback address is returned only if addresses are
   * listed and all of them are loopback addresses.
   *
   * @param given value of {@code peer.bind}; null if not set
   * @param defaultPort port if none is listed for the address
   * @throws IOException with a sentence for the user if the address cannot be determined
   */
  InetSocketAddress find(@Nullable HostPort given, Set<InetSocketAddress> listed, int defaultPort)
      throws IOException {
    if (given != null) {
      InetAddress address = InetAddress.getByName(given.host());
      return new InetSocketAddress(
          address, given.port() == 0 ? port(address, listed, defaultPort) : given.port());
    }
    boolean remote = listed.isEmpty();
    List<InetSocketAddress> own = new ArrayList<>();
    for (InetSocketAddress address : listed) {
      remote |= !address.getAddress().isLoopbackAddress();
      if (local.test(address.getAddress())) {
        own.add(address);
      }
    }
    if (remote) {
      own.removeIf(address -> address.getAddress().isLoopbackAddress());
    }
    if (own.size() > 1) {
      throw new IOException(
          "The peers "
              + String.join(", ", own.stream().map(HostPort::text).toList())
              + " are all addresses of this host: choose the one to listen on with"
              + " peer.bind=ADDRESS[:PORT]; until then no other host is used.");
    }
    return own.isEmpty() ? named(remote, listed, defaultPort) : own.get(0);
  }

  private InetSocketAddress named(boolean remote, Set<InetSocketAddress> listed, int defaultPort)
      throws IOException {
    InetAddress here = InetAddress.getLocalHost();
    InetAddress[] all = InetAddress.getAllByName(here.getHostName());
    for (InetAddress address : all) {
      if (address.isLoopbackAddress() != remote && local.test(address)) {
        return new InetSocketAddress(address, port(address, listed, defaultPort));
      }
    }
    throw new UnknownHostException(
        String.format(
            "None of the peers is an address of this host, and its name, %s, resolves to %s, where"
                + " other hosts cannot reach it: set an address with peer.bind=ADDRESS[:PORT];"
                + " until then no other host is used.",
            here.getHostName(), all[0].getHostAddress()));
  }

  /** Returns the listed port of an address if there is exactly one; else {@code defaultPort}. */
  private static int port(InetAddress address, Set<InetSocketAddress> listed, int defaultPort) {
    List<Integer> ports =
        listed.stream()
            .filter(one -> one.getAddress().equals(address))
            .map(InetSocketAddress::getPort)
            .distinct()
            .toList();
    return ports.size() == 1 ? ports.get(0) : defaultPort;
  }

  /**
   * Whether the address belongs to this machine; on Linux a machine has more addresses than its
   * interfaces list, so this tries to bind.
   */
  private static boolean canBeBound(InetAddress address) {
    try (ServerSocket socket = new ServerSocket(0, 1, address)) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
