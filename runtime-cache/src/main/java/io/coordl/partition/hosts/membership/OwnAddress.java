package io.coordl.partition.hosts.membership;

import io.coordl.partition.HostPort;
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

/** Where this host is to listen; {@code local} tells whether an address is one of this machine. */
record OwnAddress(Predicate<InetAddress> local) {
  OwnAddress() {
    this(OwnAddress::canBeBound);
  }

  /**
   * The address given; else the listed one that is this host's; else that of this host's name. One
   * that only this host can reach is not taken where the others have another kind.
   *
   * @param given as {@code peer.bind}, null if it was not
   * @param byDefault port where none is listed for the address
   * @throws IOException with a sentence for the user if it cannot be told
   */
  InetSocketAddress find(@Nullable HostPort given, Set<InetSocketAddress> listed, int byDefault)
      throws IOException {
    if (given != null) {
      InetAddress address = InetAddress.getByName(given.host());
      return new InetSocketAddress(
          address, given.port() == 0 ? port(address, listed, byDefault) : given.port());
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
              + " are all addresses of this host: give the one to listen at as"
              + " peer.bind=ADDRESS[:PORT]; until then no other host is asked.");
    }
    return own.isEmpty() ? named(remote, listed, byDefault) : own.get(0);
  }

  private InetSocketAddress named(boolean remote, Set<InetSocketAddress> listed, int byDefault)
      throws IOException {
    InetAddress here = InetAddress.getLocalHost();
    InetAddress[] all = InetAddress.getAllByName(here.getHostName());
    for (InetAddress address : all) {
      if (address.isLoopbackAddress() != remote && local.test(address)) {
        return new InetSocketAddress(address, port(address, listed, byDefault));
      }
    }
    throw new UnknownHostException(
        String.format(
            "None of the peers is an address of this host, and its name, %s, stands for %s, where"
                + " other hosts cannot reach it: give an address as peer.bind=ADDRESS[:PORT]; until"
                + " then no other host is asked.",
            here.getHostName(), all[0].getHostAddress()));
  }

  /** The port under which an address is listed, if that is but one. */
  private static int port(InetAddress address, Set<InetSocketAddress> listed, int byDefault) {
    List<Integer> ports =
        listed.stream()
            .filter(one -> one.getAddress().equals(address))
            .map(InetSocketAddress::getPort)
            .distinct()
            .toList();
    return ports.size() == 1 ? ports.get(0) : byDefault;
  }

  /** Whether it is one of this machine; on Linux that is more than the interfaces tell. */
  private static boolean canBeBound(InetAddress address) {
    try (ServerSocket socket = new ServerSocket(0, 1, address)) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
