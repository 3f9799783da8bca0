package io.coordl.partition.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.partition.hosts.Member;
import io.coordl.partition.hosts.Membership;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Hosts at 127.0.0.1 and its neighbours, for tests. */
final class Hosts {
  private Hosts() {}

  /** A port that is free with the one after it, at all addresses that tests use. */
  static int freePort() throws IOException {
    while (true) {
      try (ServerSocket any = new ServerSocket(0)) {
        int port = any.getLocalPort();
        if (port < 65_000) {
          try (ServerSocket next = new ServerSocket(port + 1)) {
            return next.getLocalPort() - 1;
          } catch (IOException e) {
            // Taken; another pair.
          }
        }
      }
    }
  }

  /** The name of host {@code number}. */
  static String name(int number, int port) {
    return "127.0.0." + number + ":" + port;
  }

  /** Hosts 1 to {@code count}. */
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

  /** A server that only listens, so that the port is really taken. */
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
