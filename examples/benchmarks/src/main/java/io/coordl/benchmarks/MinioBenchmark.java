package io.coordl.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * The MinIO cache over the page cache, in the paper's main case: a data set larger than memory. A
 * job in a container that holds 35, 50 or 65 % of the data beside 150 MiB for the JVM reads all of
 * it in random order, epoch after epoch, with and without the agent. Without, all of the memory
 * that the JVM leaves is page cache; with, {@code cache.size} names the part of the data, and the
 * container is the same. Exit status 1 if a speed-up is below its bar, or the budget was not
 * honoured.
 *
 * <p>The disk is an ext4 image in memory behind a loop device, throttled for the job (blkio), and
 * mounted anew before each run, so that nothing of it is in the page cache. Needs root and a
 * writable cgroup v1. Arguments: only this part of the data in percent (all three).
 */
public final class MinioBenchmark {
  private static final Map<Integer, Double> BARS =
      new TreeMap<>(Map.of(35, 1.35, 50, 1.45, 65, 1.8));
  private static final int FILES = 526;
  private static final int FILE_BYTES = 1 << 20;
  private static final int EPOCHS = 4;
  private static final long JVM = 150L << 20;
  private static final long DISK = 100_000_000;
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");
  private static final Pattern REDUCED =
      Pattern.compile("is reduced to|nothing is cached|nothing more is admitted");

  private final Checkout checkout = Checkout.find();
  private final Path work;
  private final String name = "coordl-minio-" + ProcessHandle.current().pid();
  private final Deque<SlowStorage.Step> undo = new ArrayDeque<>();

  private MinioBenchmark(Path work) {
    this.work = work;
  }

  /** See the class. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (!"root".equals(System.getProperty("user.name"))
        || !Files.isWritable(GROUPS.resolve("memory"))
        || !Files.isWritable(GROUPS.resolve("blkio"))) {
      System.out.println("Not measured: it needs root and a writable cgroup v1 memory and blkio.");
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
      benchmark.takeDown();
    }
    String all = String.join(" ", args);
    System.out.println("made by: " + Commands.of(benchmark.checkout, MinioBenchmark.class, all));
    System.exit(right ? 0 : 1);
  }

  private boolean measure(Map<Integer, Double> parts) throws IOException, InterruptedException {
    String device = makeDisk();
    TextTable table =
        new TextTable("data held", "container", "budget", "plain s", "agent s", "times", "bar");
    boolean right = true;
    for (Map.Entry<Integer, Double> part : parts.entrySet()) {
      long budget = (long) FILES * part.getKey() / 100 * FILE_BYTES;
      double plain = secondsOfAnEpoch(device, budget, false);
      double agent = secondsOfAnEpoch(device, budget, true);
      right &= plain / agent >= part.getValue();
      table.row(
          part.getKey() + " %",
          mebibytes(budget + JVM),
          mebibytes(budget),
          text(plain),
          text(agent),
          text(plain / agent),
          text(part.getValue()));
    }
    System.out.printf(
        "%n%d files of 1 MiB from a disk of 100 MB/s; mean of epochs 2 to %d%n%s",
        FILES, EPOCHS, table);
    return right;
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

  /** The device of a file system with the data set, not mounted. */
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

  private double secondsOfAnEpoch(String device, long budget, boolean agent)
      throws IOException, InterruptedException {
    SlowStorage.run("mount", "-o", "noatime,ro", device, disk().toString());
    SlowStorage.run("blockdev", "--setra", "2048", device);
    Path memory = Files.createDirectory(GROUPS.resolve("memory").resolve(name));
    Path throttle = Files.createDirectory(GROUPS.resolve("blkio").resolve(name));
    try {
      SlowStorage.write(memory.resolve("memory.limit_in_bytes"), Long.toString(budget + JVM));
      String number =
          Files.readString(Path.of("/sys/block", Path.of(device).getFileName() + "", "dev"));
      SlowStorage.write(
          throttle.resolve("blkio.throttle.read_bps_device"), number.strip() + " " + DISK);
      return run(budget, agent, memory.resolve("cgroup.procs"), throttle.resolve("cgroup.procs"));
    } finally {
      SlowStorage.run("umount", disk().toString());
      Files.delete(memory);
      Files.delete(throttle);
    }
  }

  private double run(long budget, boolean agent, Path... groups)
      throws IOException, InterruptedException {
    Path log = work.resolve("log");
    Path stop = Files.writeString(work.resolve("stop"), "");
    ChildJvm job =
        new ChildJvm(Jdks.running(), "example.reads.ReadItems")
            .classPath(checkout.exampleJar("test-programs"))
            .jvmArgs("-Xmx64m", "-XX:+UseSerialGC")
            .args(disk().toString(), sums().toString(), log.toString(), stop.toString())
            .args(Integer.toString(EPOCHS), "1")
            .wrapper(
                List.of(
                    "/bin/sh",
                    "-c",
                    "echo $$ >\"$0\" && echo $$ >\"$1\" && shift && exec \"$@\"",
                    groups[0].toString(),
                    groups[1].toString()));
    if (agent) {
      String arguments = "cache=minio,cache.size=" + budget + ",dataset=" + disk();
      job.agent(checkout.agentJar(), arguments + ",record=off,summary=off");
    }
    ChildResult result = job.run().orFail("The job" + (agent ? " with the agent" : ""));
    if (agent && REDUCED.matcher(result.err()).find()) {
      throw new IllegalStateException("The budget was not honoured:\n" + result.err());
    }
    long micros = 0;
    for (String line : Files.readAllLines(log).subList(FILES, EPOCHS * FILES)) {
      micros += Long.parseLong(line.substring(line.indexOf(' ') + 1));
    }
    return micros / 1e6 / (EPOCHS - 1);
  }

  private void takeDown() throws IOException, InterruptedException {
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
  }
}
