package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the cores, whole or fractional, of a program and its child processes by a bandwidth limit
 * of a control group (version 1), like that of a container. Not thread-safe.
 */
final class CoreQuota implements AutoCloseable {
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/cpu");
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final int REMOVALS = 50;

  private final Path group;
  private final Thread atExit = new Thread(this::closeAtExit);

  /** Creates a group without a limit. */
  CoreQuota() throws IOException {
    Runtime.getRuntime().addShutdownHook(atExit);
    group =
        Files.createDirectory(
            GROUPS.resolve(
                "coordl-cores-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet()));
  }

  /** Returns what this machine lacks; empty if nothing. */
  static String missing() {
    return !Files.isRegularFile(GROUPS.resolve("cpu.cfs_period_us"))
        ? "a cgroup v1 cpu controller with bandwidth limits at " + GROUPS
        : Files.isWritable(GROUPS) ? "" : "a writable " + GROUPS;
  }

  /** Sets the number of cores for the group's processes. */
  void cores(double cores) throws IOException {
    long period = Long.parseLong(Files.readString(group.resolve("cpu.cfs_period_us")).strip());
    SlowStorage.write(group.resolve("cpu.cfs_quota_us"), Long.toString(Math.round(cores * period)));
  }

  /** Returns the prefix of a command that runs in the group. */
  List<String> wrapper() {
    return List.of(
        "/bin/sh",
        "-c",
        "echo $$ >\"$0\" && exec \"$@\"",
        group.resolve("cgroup.procs").toString());
  }

  private void closeAtExit() {
    try {
      close();
    } catch (IOException e) {
      System.err.println("A control group is left behind: " + e.getMessage());
    }
  }

  /** Removes the group; waits up to five seconds for its last process to end. */
  @Override
  public void close() throws IOException {
    ShutdownHooks.remove(atExit);
    for (int tries = 1; ; tries++) {
      try {
        Files.deleteIfExists(group);
        return;
      } catch (IOException e) {
        if (tries == REMOVALS) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a control group was removed", e);
    }
  }
}
