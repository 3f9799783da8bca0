package io.coordl.benchmarks;

import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.PeerTls;
import io.coordl.peers.hosts.membership.Discovery;
import io.coordl.peers.hosts.membership.HostMembership;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;

/**
 * Cost of being a member of the partitioned cache: time until a member knows the others, threads,
 * heap and resident memory. Runs two members in one JVM at 127.0.0.1 and 127.0.0.2, so that only
 * the first one's cost includes class loading. Argument: the port of both, 7800 by default.
 */
public final class MembershipCost {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private MembershipCost() {}

  /**
   * Cost of one more member.
   *
   * @param millis milliseconds until all members know each other
   * @param threads additional threads
   * @param heap additional heap bytes in use, after a garbage collection
   * @param resident additional resident bytes of the process
   */
  public record Cost(long millis, int threads, long heap, long resident) {}

  /** Prints a line for each of two members. */
  public static void main(String[] arguments) throws IOException {
    int port = arguments.length == 0 ? Discovery.DEFAULT_PORT : Integer.parseInt(arguments[0]);
    Path directory = Files.createTempDirectory("coordl-membership");
    measure(directory, port, 1, 2)
        .forEach(
            cost ->
                System.out.printf(
                    Locale.ROOT,
                    "%d ms until all know each other, +%d threads, +%.1f MiB heap, +%.1f MiB"
                        + " resident%n",
                    cost.millis(),
                    cost.threads(),
                    cost.heap() / 1048576.0,
                    cost.resident() / 1048576.0));
  }

  /**
   * Adds members one after another, each at its own address, and finally closes all.
   *
   * @param first last byte of the first address, 127.0.0.{@code first}
   * @param last last byte of the last address
   */
  public static List<Cost> measure(Path directory, int port, int first, int last)
      throws IOException {
    List<HostMembership> members = new ArrayList<>();
    List<Cost> costs = new ArrayList<>();
    SSLContext tls = PeerTls.ofSecret(PartitionBenchmark.secret(directory));
    try {
      for (int number = first; number <= last; number++) {
        Path own = Files.createDirectories(directory.resolve("host" + number));
        long heap = heap();
        long resident = resident();
        int threads = Thread.getAllStackTraces().size();
        long start = System.nanoTime();
        members.add(open(own, port, number, first, tls));
        await(members);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        costs.add(
            new Cost(
                millis,
                Thread.getAllStackTraces().size() - threads,
                heap() - heap,
                resident() - resident));
      }
    } finally {
      members.forEach(HostMembership::close);
    }
    return costs;
  }

  private static HostMembership open(
      Path directory, int port, int number, int first, SSLContext tls) {
    HostMembership.Settings settings =
        new HostMembership.Settings(
            directory,
            "cost",
            "cost",
            Discovery.parse("127.0.0." + first + ":" + port),
            HostPort.parse("127.0.0." + number + ":" + port),
            tls,
            () -> 1L << 30,
            System::getenv);
    return new HostMembership(
        settings,
        address -> new ServerSocket(address.getPort(), 50, address.getAddress()),
        System.err::println);
  }

  private static void await(List<HostMembership> members) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!members.stream().allMatch(one -> one.members().size() == members.size())) {
      if (System.nanoTime() - deadline >= 0) {
        throw new IllegalStateException("the members have not found each other within a minute");
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  @SuppressWarnings("SystemGc") // Measures memory in use.
  private static long heap() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private static long resident() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
        .findFirst()
        .orElse(0);
  }
}
