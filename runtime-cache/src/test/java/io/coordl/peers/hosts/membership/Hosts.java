package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.Membership;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Hosts at 127.0.0.1 and its neighbours, for tests. */
final class Hosts {
  private Hosts() {}

  /**
   * Returns a port that, like the following port, is free at all addresses that tests use. It is
   * below the ports of outgoing connections, each of which the kernel keeps reserved for a minute.
   */
  static int freePort() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
      try (ServerSocket first = new ServerSocket(port);
          ServerSocket second = new ServerSocket(first.getLocalPort() + 1)) {
        return second.getLocalPort() - 1;
      } catch (IOException e) {
        // Taken; try another pair.
      }
    }
  }

  /** Returns the name of host {@code number}. */
  static String name(int number, int port) {
    return "127.0.0." + number + ":" + port;
  }

  /** Returns the names of hosts 1 to {@code count}. */
  static List<String> names(int count, int port) {
    List<String> names = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      names.add(name(number, port));
    }
    return names;
  }

  static List<String> names(Membership membership) {
    return membership.members().stream().map(Member::name).toList();
  }

  /** Returns a server that only listens, to occupy the port. */
  static HostMembership.ItemServer listening() {
    return address -> {
      InetAddress host = address.getAddress();
      return new ServerSocket(address.getPort(), 50, host);
    };
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Waits.LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("still waiting until " + what).isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }
}
