package io.coordl.benchmarks;

import io.coordl.benchmarks.partition.TransferSide;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * Cost of an item from another process, for each transport that the partitioned cache uses or could
 * use. Two processes use the loopback interface: one has the items in memory, and the other gets
 * them in random order. Transports alternate within a repetition, each time in new processes; the
 * figures are medians over the repetitions. Exits with 1 if an item takes more than {@value #BAR}
 * times as much CPU time with our engine as with Netty. Arguments: repetitions (3), a part of the
 * transports' names (all).
 */
public final class PartitionBenchmark {
  private static final String[][] TRANSPORTS = {
    {"raw", "raw blocking sockets, reused buffers"},
    {"netty", "Netty, zero-copy server"},
    {"hosts", "our engine, peer=HOST:PORT"},
    {"jgroups", "JGroups, request and response"},
    {"redis-engine", "Redis by peer=redis://"},
    {"redis-jedis", "Redis, Jedis alone"},
    {"redis-lettuce", "Redis, Lettuce alone"},
  };

  /** Transports that must work; if another one fails, the rest continue. */
  private static final Set<String> REQUIRED = Set.of("raw", "hosts", "redis-engine");

  /** Number of items, and bytes of each. */
  private static final int[][] SIZES = {{1000, 110 * 1024}, {100, 1 << 20}};

  /** Highest CPU time with our encrypted connection relative to unencrypted Netty. */
  private static final double BAR = 2;

  private PartitionBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws Exception {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    String part = args.length > 1 ? args[1] : "";
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("partition"));
    Path secret = secret(work);
    Map<String, List<double[]>> figures = new LinkedHashMap<>();
    for (int repetition = 0; repetition < repetitions; repetition++) {
      for (int[] size : SIZES) {
        for (String[] transport : TRANSPORTS) {
          if (transport[0].contains(part)) {
            List<double[]> runs =
                figures.computeIfAbsent(size[1] + " " + transport[1], key -> new ArrayList<>());
            try {
              runs.add(run(transport[0], size[0], size[1], work, secret));
            } catch (IllegalStateException e) {
              if (REQUIRED.contains(transport[0])) {
                throw e;
              }
              System.out.println(
                  transport[0] + " " + size[1] + " does not work: " + e.getMessage());
            }
          }
        }
      }
    }
    System.out.printf("%nOn %s, medians of %d repetitions%n", Jdks.running(), repetitions);
    boolean tooExpensive = false;
    for (int[] size : SIZES) {
      TextTable table =
          new TextTable(
              size[1] + " bytes", "p50 us", "p99 us", "4 threads GB/s", "CPU us / item", "/ Netty");
      double netty = Double.NaN;
      for (String[] transport : TRANSPORTS) {
        List<double[]> runs = figures.get(size[1] + " " + transport[1]);
        if (runs != null && !runs.isEmpty()) {
          netty = transport[0].equals("netty") ? median(runs, 3) : netty;
        }
      }
      for (String[] transport : TRANSPORTS) {
        List<double[]> runs = figures.get(size[1] + " " + transport[1]);
        if (runs != null && runs.isEmpty()) {
          table.row(transport[1], "fails", "-", "-", "-", "-");
        } else if (runs != null) {
          tooExpensive |= transport[0].equals("hosts") && median(runs, 3) > BAR * netty;
          table.row(
              transport[1],
              text("%.0f", median(runs, 0)),
              text("%.0f", median(runs, 1)),
              text("%.2f", median(runs, 2)),
              text("%.0f", median(runs, 3)),
              Double.isNaN(netty) ? "-" : text("%.2f", median(runs, 3) / netty));
        }
      }
      System.out.printf("%n%s", table);
    }
    System.out.println("made by: " + Commands.of(checkout, PartitionBenchmark.class, args));
    if (tooExpensive) {
      System.out.printf(
          Locale.ROOT, "Our engine takes more than %.0f times the CPU time of Netty.%n", BAR);
      System.exit(1);
    }
  }

  private static double[] run(String transport, int items, int bytes, Path work, Path secret)
      throws IOException, InterruptedException {
    int port = freePort();
    String count = Integer.toString(items);
    String length = Integer.toString(bytes);
    String at = Integer.toString(port);
    boolean redis = transport.startsWith("redis");
    List<String> command =
        redis
            ? List.of(
                "redis-server",
                "--bind",
                "127.0.0.1",
                "--port",
                at,
                "--save",
                "",
                "--dir",
                "" + work)
            : java("serve", transport, at, count, length, secret.toString());
    Process server =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      BufferedReader output = server.inputReader(StandardCharsets.UTF_8);
      String ready = redis ? "Ready to accept connections" : "listening";
      for (String line = output.readLine(); !line.contains(ready); line = output.readLine()) {
        LockSupport.parkNanos(1);
      }
      ChildResult result =
          new ChildJvm(Jdks.running(), TransferSide.class.getName())
              .classPath(Path.of(System.getProperty("java.class.path")))
              .jvmArgs("-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=1g")
              .args(
                  "get",
                  transport,
                  at,
                  count,
                  length,
                  secret.toString(),
                  Long.toString(server.pid()))
              .run()
              .orFail(transport);
      String line = result.out().strip();
      System.out.println(transport + " " + length + ": " + line);
      return Arrays.stream(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  /** Returns the file with the secret that both sides share, after creating it if it is missing. */
  static Path secret(Path work) throws IOException {
    Path file = work.resolve("peer.secret");
    if (!Files.exists(file)) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, UUID.randomUUID() + "-" + UUID.randomUUID());
    }
    return file;
  }

  private static List<String> java(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Jdks.running().java().toString(),
                "-Xms256m",
                "-Xmx512m",
                "-XX:MaxDirectMemorySize=1g",
                "-cp",
                System.getProperty("java.class.path"),
                TransferSide.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static double median(List<double[]> runs, int figure) {
    double[] sorted = runs.stream().mapToDouble(run -> run[figure]).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
