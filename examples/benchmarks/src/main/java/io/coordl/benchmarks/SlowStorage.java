package io.coordl.benchmarks;

import io.coordl.harness.Cleanup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A real file system on a disk of known rate with hardly any page cache: an ext4 image in memory
 * behind a loop device throttled by the kernel (blkio), read through a pass-through file system
 * whose process has only a few megabytes of page cache (memory cgroup). The program that reads from
 * {@link #directory} is neither throttled nor limited itself. Needs root, cgroup v1 and the Debian
 * packages {@code bindfs} and {@code e2fsprogs}; see {@link #missing}. Not thread-safe.
 */
final class SlowStorage implements AutoCloseable {
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  /** Limit of the pass-through file system's process: its own memory and hardly any page cache. */
  private static final long MEMORY = 8L << 20;

  private static final String READ_AHEAD_SECTORS = "2048";

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String name =
      "coordl-slow-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet();
  private final Path work;
  private final Cleanup undo = new Cleanup();
  private final Thread atExit = new Thread(this::closeAtExit);
  private String device = "";

  /**
   * Copies {@code data} to a new disk.
   *
   * @param work a directory for its mount points
   * @param bytesPerSecond rate of the disk
   */
  SlowStorage(Path work, Path data, long bytesPerSecond) throws IOException, InterruptedException {
    this.work = work;
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      open(data, bytesPerSecond);
    } catch (IOException | InterruptedException | RuntimeException e) {
      try {
        close();
      } catch (IOException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  /** Returns what this machine lacks; empty if nothing. */
  static List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (!"root".equals(System.getProperty("user.name"))) {
      missing.add("root");
    }
    for (String group : List.of("blkio", "memory")) {
      if (!Files.isWritable(GROUPS.resolve(group))) {
        missing.add("a writable cgroup v1 controller " + group);
      }
    }
    for (String command : List.of("/usr/bin/bindfs", "/usr/sbin/mkfs.ext4", "/usr/sbin/losetup")) {
      if (!Files.isExecutable(Path.of(command))) {
        missing.add(command);
      }
    }
    return missing;
  }

  private void open(Path data, long bytesPerSecond) throws IOException, InterruptedException {
    Path image = Path.of("/dev/shm", name + ".img");
    Path disk = Files.createDirectories(work.resolve("disk"));
    Files.createDirectories(directory());
    undo.push(() -> Files.deleteIfExists(image));
    long mebibytes = size(data) * 3 / 2 / (1 << 20) + 64;
    run("truncate", "-s", mebibytes + "M", image.toString());
    run("/usr/sbin/mkfs.ext4", "-q", "-F", "-O", "^has_journal", image.toString());
    String loop = run("/usr/sbin/losetup", "-f", "--show", image.toString()).strip();
    undo.push(() -> run("/usr/sbin/losetup", "-d", loop));
    run("mount", "-o", "noatime", loop, disk.toString());
    undo.push(() -> run("umount", disk.toString()));
    // No holes, because a disk would not have to read them.
    run("cp", "-r", "--sparse=never", data + "/.", disk.toString());
    // The copy left pages in the page cache, charged to this process; reading them would be free.
    run("umount", disk.toString());
    run("mount", "-o", "noatime,ro", loop, disk.toString());
    // Otherwise the kernel requests a file in pieces and waits for each, which changes the rate.
    run("blockdev", "--setra", READ_AHEAD_SECTORS, loop);

    Path throttle = group("blkio");
    device =
        Files.readString(Path.of("/sys/block", Path.of(loop).getFileName() + "", "dev")).strip();
    rate(bytesPerSecond);
    Path memory = group("memory");
    write(memory.resolve("memory.limit_in_bytes"), Long.toString(MEMORY));
    // The shell joins both groups and becomes the file system.
    Process server =
        new ProcessBuilder(
                "/bin/sh",
                "-c",
                "echo $$ >\"$1\" && echo $$ >\"$2\" && exec bindfs -f -o direct_io \"$3\" \"$4\"",
                "sh",
                throttle.resolve("cgroup.procs").toString(),
                memory.resolve("cgroup.procs").toString(),
                disk.toString(),
                directory().toString())
            .redirectErrorStream(true)
            .redirectOutput(work.resolve("bindfs.log").toFile())
            .start();
    undo.push(
        () -> {
          try {
            run("umount", "-l", directory().toString());
          } catch (IOException e) {
            if (isMounted()) { // Otherwise a signal has ended the server, as well as this process.
              throw e;
            }
          }
          if (!server.waitFor(10, TimeUnit.SECONDS)) {
            server.destroyForcibly().waitFor();
          }
        });
    while (!isMounted()) {
      if (server.waitFor(10, TimeUnit.MILLISECONDS)) {
        throw new IOException(
            "bindfs ended immediately: " + Files.readString(work.resolve("bindfs.log")).strip());
      }
    }
  }

  private boolean isMounted() throws IOException {
    return Files.readString(Path.of("/proc/mounts")).contains(" " + directory() + " ");
  }

  /** Sets the rate of the disk in bytes per second; 0 for no limit. */
  void rate(long bytesPerSecond) throws IOException {
    write(
        GROUPS.resolve("blkio").resolve(name).resolve("blkio.throttle.read_bps_device"),
        device + " " + bytesPerSecond);
  }

  private Path group(String controller) throws IOException {
    Path group = Files.createDirectory(GROUPS.resolve(controller).resolve(name));
    undo.push(() -> Files.delete(group));
    return group;
  }

  /** Returns the directory with the data. */
  Path directory() {
    return work.resolve("slow").toAbsolutePath();
  }

  /** Returns the bytes of all files below {@code data}. */
  static long size(Path data) throws IOException {
    long[] sum = {0};
    Files.walkFileTree(
        data,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sum[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }
        });
    return sum[0];
  }

  static void write(Path file, String value) throws IOException {
    // A cgroup's file takes one write and no truncation.
    try (var out = Files.newOutputStream(file, java.nio.file.StandardOpenOption.WRITE)) {
      out.write(value.getBytes(StandardCharsets.US_ASCII));
    }
  }

  static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + out.strip());
    }
    return out;
  }

  /**
   * Cleans up after a benchmark that is stopped, which would otherwise leave gigabytes in memory.
   */
  private void closeAtExit() {
    try {
      close();
    } catch (IOException e) {
      System.err.println("Slow storage is left behind: " + e.getMessage());
    }
  }

  /** Removes everything that was set up. Does nothing the second time. */
  @Override
  public synchronized void close() throws IOException {
    ShutdownHooks.remove(atExit);
    undo.run();
  }
}
