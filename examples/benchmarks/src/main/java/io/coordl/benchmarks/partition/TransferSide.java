package io.coordl.benchmarks.partition;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs one side of a transfer. Arguments: {@code serve TRANSPORT PORT ITEMS BYTES SECRET} for the
 * side that has the items, or {@code get TRANSPORT PORT ITEMS BYTES SECRET PID} for the side that
 * gets them. SECRET is the file of the peer secret, and PID the process on the other side. The
 * first side prints a line once it listens, and ends when its input ends. The second prints its
 * figures: p50 and p99 in microseconds with one thread, GB/s with four, and the CPU microseconds
 * that both processes use per item. Each phase lasts a second, after a warm-up of equal length.
 */
public final class TransferSide {
  private static final int THREADS = 4;
  private static final long PHASE_NANOS = 1_000_000_000L;
  private static final int TICKS_PER_SECOND = 100;

  private TransferSide() {}

  /** Runs one side; the class description lists the arguments. */
  public static void main(String[] args) throws Exception {
    String transport = args[1];
    InetSocketAddress at =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[2]));
    Items items = new Items(Integer.parseInt(args[3]), Integer.parseInt(args[4]));
    Path secret = Path.of(args[5]);
    if (args[0].equals("serve")) {
      serve(transport, at, items, secret);
      System.out.println("listening");
      System.in.readAllBytes();
      System.exit(0);
    }
    try (Transfer transfer = open(transport, at, items, secret)) {
      measure(transfer, items, Long.parseLong(args[6]));
    }
    System.exit(0);
  }

  private static void serve(String transport, InetSocketAddress at, Items items, Path secret)
      throws Exception {
    switch (transport) {
      case "raw" -> RawSockets.serve(at, items);
      case "netty" -> NettyTransfer.serve(at, items);
      case "hosts" -> HostsTransfer.serve(at, items, secret);
      case "jgroups" -> JgroupsTransfer.serve(at, items);
      default -> throw new IllegalArgumentException(transport);
    }
  }

  private static Transfer open(String transport, InetSocketAddress at, Items items, Path secret)
      throws Exception {
    return switch (transport) {
      case "raw" -> new RawSockets(at, items.bytes());
      case "netty" -> new NettyTransfer(at);
      case "hosts" -> new HostsTransfer(at, items, secret);
      case "jgroups" -> new JgroupsTransfer(at);
      case "redis-engine" -> new RedisTransfers.Engine(at, items);
      case "redis-jedis" -> new RedisTransfers.Jedis(at, items);
      case "redis-lettuce" -> new RedisTransfers.Lettuce(at, items);
      default -> throw new IllegalArgumentException(transport);
    };
  }

  private static void measure(Transfer transfer, Items items, long otherPid) throws Exception {
    int[] expected = items.expected();
    together(transfer, expected);
    alone(transfer, expected);
    double cpuBefore = cpuSeconds(otherPid) + cpuSeconds(ProcessHandle.current().pid());
    long[] nanos = alone(transfer, expected);
    long start = System.nanoTime();
    long got = together(transfer, expected);
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpu = cpuSeconds(otherPid) + cpuSeconds(ProcessHandle.current().pid()) - cpuBefore;
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "%.1f %.1f %.3f %.1f%n",
        nanos[nanos.length / 2] / 1e3,
        nanos[(int) (nanos.length * 0.99)] / 1e3,
        got * items.bytes() / seconds / 1e9,
        cpu * 1e6 / (got + nanos.length));
  }

  /** Gets items at random with one thread; returns the nanoseconds of each. */
  private static long[] alone(Transfer transfer, int[] expected) throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    long[] nanos = new long[1 << 20];
    int count = 0;
    long end = System.nanoTime() + PHASE_NANOS;
    for (long now = System.nanoTime(); now < end && count < nanos.length; ) {
      check(transfer, random.nextInt(expected.length), expected);
      long after = System.nanoTime();
      nanos[count++] = after - now;
      now = after;
    }
    return Arrays.copyOf(nanos, count);
  }

  /** Gets items at random with four threads; returns their number. */
  private static long together(Transfer transfer, int[] expected) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    List<Future<Long>> counts = new ArrayList<>();
    long end = System.nanoTime() + PHASE_NANOS;
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom random = new SplittableRandom(2 + i);
      counts.add(
          pool.submit(
              () -> {
                long count = 0;
                while (System.nanoTime() < end) {
                  check(transfer, random.nextInt(expected.length), expected);
                  count++;
                }
                return count;
              }));
    }
    long sum = 0;
    for (Future<Long> count : counts) {
      sum += count.get();
    }
    pool.shutdown();
    return sum;
  }

  private static void check(Transfer transfer, int item, int[] expected) throws Exception {
    if (transfer.get(item) != expected[item]) {
      throw new IllegalStateException("Item " + item + " has the wrong content.");
    }
  }

  /** Returns the user and system time of a process and all its threads, in seconds. */
  private static double cpuSeconds(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    // The name, in brackets, may contain blanks; user and system time are fields 14 and 15.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / (double) TICKS_PER_SECOND;
  }

  /** Runs {@code task} on a daemon thread, until it fails or the JVM ends. */
  static void daemon(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // The other side is gone.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  /** The work of a daemon thread. */
  interface Task {
    void run() throws IOException;
  }
}
