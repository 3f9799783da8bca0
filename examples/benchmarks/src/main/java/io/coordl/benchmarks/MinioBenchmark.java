package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Cleanup;
import io.coordl.harness.Jdks;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Compares the MinIO cache with the page cache in the main case of the CoorDL paper (VLDB'21), a
 * data set larger than memory. A job reads all files in random order, epoch after epoch, in a
 * container that holds 35, 50 or 65 % of the data, with and without the agent. Exit status 1 if a
 * speed-up is below its bar or the agent reduced the budget.
 *
 * <p>Both runs have the same memory for data. A short run on a fast disk measures the JVM's own
 * memory (heap, classes, code and threads from {@code memory.stat}, plus kernel memory from {@code
 * memory.kmem.usage_in_bytes}); the container's limit is that plus the memory for data. With the
 * agent, the latter is {@code cache.size} plus {@link #ROOM} of page cache; without, all of it is
 * page cache. The young generation is nearly the whole heap, so that the short run already touches
 * the heap for which the agent leaves room.
 *
 * <p>The disk is an ext4 image in memory behind a loop device, throttled for the job (blkio), and
 * remounted before each run to empty the page cache. Needs root, a writable cgroup v1, and 4 GiB of
 * memory. Argument: 35, 50 or 65 to measure only that share (default: all three).
 */
public final class MinioBenchmark {
  private static final Map<Integer, Double> BARS =
      new TreeMap<>(Map.of(35, 1.35, 50, 1.45, 65, 1.8));
  private static final int FILES = 2104;
  private static final int FILE_BYTES = 1 << 20;
  private static final int EPOCHS = 8;

  /**
   * Page cache left beside the store's budget, because the store keeps a 32nd of the container
   * free. It also caches the JVM's own files.
   */
  private static final long ROOM = 32L << 20;

  /** The container's limit in the short run. */
  private static final long AMPLE = 3L << 30;

  private static final long DISK = 200_000_000;
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");
  private static final Pattern REDUCED =
      Pattern.compile("is reduced to|nothing is cached|nothing more is admitted");

  private final Checkout checkout = Checkout.find();
  private final Path work;
  private final String name = "coordl-minio-" + ProcessHandle.current().pid();
  private final Cleanup undo = new Cleanup();

  private MinioBenchmark(Path work) {
    this.work = work;
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (!"root".equals(System.getProperty("user.name"))
        || !Files.isWritable(GROUPS.resolve("memory"))
        || !Files.isWritable(GROUPS.resolve("blkio"))) {
      System.out.println(
          "Not measured: this needs root and writable cgroup v1 memory and blkio controllers.");
      System.exit(2);
    }
    Map<Integer, Double> parts = new TreeMap<>(BARS);
    if (args.length > 0) {
      parts.keySet().retainAll(List.of(Integer.valueOf(args[0])));
    }
    Path work = Files.createDirectories(Checkout.find().work("minio"));
    MinioBenchmark benchmark = new MinioBenchmark(work);
    boolean right;
    try {
      right = benchmark.measure(parts);
    } finally {
      benchmark.undo.run();
    }
    System.out.println("made by: " + Commands.of(benchmark.checkout, MinioBenchmark.class, args));
    System.exit(right ? 0 : 1);
  }

  /**
   * A run.
   *
   * @param limit limit of its container in bytes
   * @param own maximum of the JVM's own memory at the end of an epoch
   * @param stored maximum of the store's memory
   * @param hits share of the data that did not come from the disk, from the second epoch on
   * @param seconds duration of each epoch
   */
  private record Run(long limit, long own, long stored, double hits, List<Double> seconds) {
    /** Returns the mean duration of epochs 2 and later, in seconds. */
    double mean() {
      return seconds.stream().skip(1).mapToDouble(Double::doubleValue).average().orElseThrow();
    }
  }

  private boolean measure(Map<Integer, Double> parts) throws IOException, InterruptedException {
    String device = makeDisk();
    TextTable table =
        new TextTable(
            "data held", "", "container", "JVM's own", "for data", "in store", "hits", "epoch s");
    TextTable ratios = new TextTable("data held", "times as fast", "bar");
    boolean right = true;
    for (Map.Entry<Integer, Double> part : parts.entrySet()) {
      long budget = (long) FILES * part.getKey() / 100 * FILE_BYTES;
      long own = run(device, AMPLE, budget, true, false).own();
      long data = budget + ROOM;
      double agent = row(table, device, part.getKey() + " %", budget, data, own);
      long plainOwn = run(device, AMPLE, budget, false, false).own();
      double plain = row(table, device, part.getKey() + " %", 0, data, plainOwn);
      right &= plain / agent >= part.getValue();
      ratios.row(part.getKey() + " %", text(plain / agent), text(part.getValue()));
    }
    System.out.printf(
        "%n%d files of 1 MiB from a disk of %d MB/s; the JVM's own memory in a short run, which"
            + " sets the container's limit; mean of epochs 2 to %d%n%s%n%s",
        FILES, DISK / 1_000_000, EPOCHS, table, ratios);
    return right;
  }

  private double row(TextTable table, String device, String part, long budget, long data, long own)
      throws IOException, InterruptedException {
    boolean agent = budget > 0;
    Run run = run(device, own + data, budget, agent, true);
    System.out.printf(
        Locale.ROOT,
        "%s, %s: own memory at most %s; epochs of %s s%n",
        part,
        agent ? "cache" : "plain",
        mebibytes(run.own()),
        run.seconds().stream().map(MinioBenchmark::text).toList());
    table.row(
        part,
        agent ? "cache" : "plain",
        mebibytes(run.limit()),
        mebibytes(own),
        mebibytes(run.limit() - own),
        mebibytes(run.stored()),
        String.format(Locale.ROOT, "%.0f %%", 100 * run.hits()),
        text(run.mean()));
    return run.mean();
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String mebibytes(long bytes) {
    return (bytes >> 20) + " MiB";
  }

  private Path disk() {
    return work.resolve("disk").toAbsolutePath();
  }

  private Path sums() {
    return work.resolve("sums");
  }

  /** Creates a file system with the data set and returns its device, not mounted. */
  private String makeDisk() throws IOException, InterruptedException {
    Path image = Path.of("/dev/shm", name + ".img");
    Files.createDirectories(disk());
    undo.push(() -> Files.deleteIfExists(image));
    SlowStorage.run("truncate", "-s", (FILES + 64) * 9 / 8 + "M", image.toString());
    SlowStorage.run("/usr/sbin/mkfs.ext4", "-q", "-F", "-O", "^has_journal", image.toString());
    String device = SlowStorage.run("/usr/sbin/losetup", "-f", "--show", image.toString()).strip();
    undo.push(() -> SlowStorage.run("/usr/sbin/losetup", "-d", device));
    SlowStorage.run("mount", "-o", "noatime", device, disk().toString());
    try (BufferedWriter sums = Files.newBufferedWriter(sums())) {
      SplittableRandom random = new SplittableRandom(1);
      byte[] bytes = new byte[FILE_BYTES];
      for (int i = 0; i < FILES; i++) {
        random.nextBytes(bytes);
        Files.write(disk().resolve("item" + i), bytes);
        CRC32 crc = new CRC32();
        crc.update(bytes);
        sums.write(Long.toHexString(crc.getValue()) + " item" + i + "\n");
      }
    } finally {
      SlowStorage.run("umount", disk().toString());
    }
    return device;
  }

  private Run run(String device, long container, long budget, boolean agent, boolean slow)
      throws IOException, InterruptedException {
    SlowStorage.run("mount", "-o", "noatime,ro", device, disk().toString());
    SlowStorage.run("blockdev", "--setra", "2048", device);
    Path memory = Files.createDirectory(GROUPS.resolve("memory").resolve(name));
    Path throttle = Files.createDirectory(GROUPS.resolve("blkio").resolve(name));
    try {
      SlowStorage.write(memory.resolve("memory.limit_in_bytes"), Long.toString(container));
      String number =
          Files.readString(Path.of("/sys/block", Path.of(device).getFileName() + "", "dev"));
      if (slow) {
        SlowStorage.write(
            throttle.resolve("blkio.throttle.read_bps_device"), number.strip() + " " + DISK);
      }
      return run(number.strip(), container, agent ? budget : 0, memory, throttle);
    } finally {
      SlowStorage.run("umount", disk().toString());
      Files.delete(memory);
      Files.delete(throttle);
    }
  }

  /** Runs the job, with the agent if the budget is positive. */
  private Run run(String device, long container, long budget, Path memory, Path throttle)
      throws IOException, InterruptedException {
    Path log = work.resolve("log");
    Path stop = Files.writeString(work.resolve("stop"), "");
    AtomicLong own = new AtomicLong();
    AtomicLong stored = new AtomicLong();
    AtomicLong readInFirst = new AtomicLong();
    ChildJvm job =
        new ChildJvm(Jdks.running(), "example.reads.ReadItems")
            .classPath(checkout.testPrograms())
            .jvmArgs("-Xms64m", "-Xmx64m", "-Xmn52m", "-XX:SurvivorRatio=24", "-XX:+UseSerialGC")
            .args(disk().toString(), sums().toString(), log.toString(), stop.toString())
            .args(Integer.toString(EPOCHS), "1")
            .wrapper(
                List.of(
                    "/bin/sh",
                    "-c",
                    "echo $$ >\"$0\" && echo $$ >\"$1\" && shift && exec \"$@\"",
                    memory.resolve("cgroup.procs").toString(),
                    throttle.resolve("cgroup.procs").toString()))
            .echo(
                line -> {
                  if (line.startsWith("epoch ")) {
                    own.accumulateAndGet(ownMemory(memory), Math::max);
                    stored.accumulateAndGet(stat(memory, "total_shmem"), Math::max);
                    readInFirst.compareAndSet(0, readBytes(throttle, device));
                  }
                });
    if (budget > 0) {
      String arguments = "cache=minio,cache.size=" + budget + ",dataset=" + disk();
      job.agent(checkout.agentJar(), arguments + ",record=off,summary=off");
    }
    ChildResult result = job.run().orFail("The job" + (budget > 0 ? " with the agent" : ""));
    if (REDUCED.matcher(result.err()).find()) {
      throw new IllegalStateException("The budget was not honoured:\n" + result.err());
    }
    long read = readBytes(throttle, device) - readInFirst.get();
    double hits = 1 - (double) read / ((EPOCHS - 1L) * FILES * FILE_BYTES);
    return new Run(container, own.get(), stored.get(), hits, epochs(log));
  }

  /** Returns the seconds of each epoch, from the first read to the end of the last one. */
  private static List<Double> epochs(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    List<Double> seconds = new ArrayList<>();
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      String[] first = lines.get(epoch * FILES).split(" ", 2);
      String[] last = lines.get((epoch + 1) * FILES - 1).split(" ", 2);
      long end = Long.parseLong(last[0]) + Long.parseLong(last[1]);
      seconds.add((end - Long.parseLong(first[0])) / 1e6);
    }
    return seconds;
  }

  /** Returns the memory of the group that is neither page cache nor shared memory, in bytes. */
  private static long ownMemory(Path group) {
    return stat(group, "total_rss") + number(group.resolve("memory.kmem.usage_in_bytes"), "");
  }

  private static long stat(Path group, String name) {
    return number(group.resolve("memory.stat"), name + " ");
  }

  /** Returns the bytes that the group has read from the device. */
  private static long readBytes(Path group, String device) {
    return number(group.resolve("blkio.throttle.io_service_bytes"), device + " Read ");
  }

  /** Returns the number in the line that begins with {@code name}. */
  private static long number(Path file, String name) {
    try {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith(name)) {
          return Long.parseLong(line.substring(name.length()));
        }
      }
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
