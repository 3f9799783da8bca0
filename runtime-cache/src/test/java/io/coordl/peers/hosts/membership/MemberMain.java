package io.coordl.peers.hosts.membership;

import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.TestSecret;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A job of a host in a separate JVM: prints each view as a line, and {@code carries} when it begins
 * to serve items for its host; exits cleanly when its input ends.
 */
final class MemberMain {
  private MemberMain() {}

  /** Arguments: directory of the host, address of the host, peers. */
  public static void main(String[] arguments) throws Exception {
    HostMembership.Settings settings =
        new HostMembership.Settings(
            Path.of(arguments[0]),
            "store",
            "g",
            Discovery.parse(Arrays.asList(arguments).subList(2, arguments.length)),
            HostPort.parse(arguments[1]),
            TestSecret.ours(),
            () -> 1,
            System::getenv);
    HostMembership.ItemServer listening = Hosts.listening();
    HostMembership membership =
        new HostMembership(
            settings,
            address -> {
              var server = listening.open(address);
              print("carries");
              return server;
            },
            line -> print("logged " + line));
    Thread printing = new Thread(() -> print(membership));
    printing.setDaemon(true);
    printing.start();
    while (System.in.read() >= 0) {}
    membership.close();
  }

  private static void print(HostMembership membership) {
    List<Member> last = null;
    while (true) {
      List<Member> now = membership.members();
      if (now != last && !membership.self().isEmpty()) {
        print(membership.self() + " sees " + String.join(" ", Hosts.names(membership)));
        last = now;
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  private static synchronized void print(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
