package io.coordl.shared;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the machine and the container leave to this process. */
public final class Machine {
  /** Left alone besides the heap: code, threads, the libraries' own memory. */
  private static final long RESERVE = 256L << 20;

  private static final long UNLIMITED = Long.MAX_VALUE;

  private Machine() {}

  /**
   * Bytes of memory a store may take: the least that the host and each control group above this
   * process have free, less what the heap may still grow by and a reserve.
   */
  public static long freeMemory() {
    Runtime runtime = Runtime.getRuntime();
    long heapGrowth = runtime.maxMemory() - runtime.totalMemory();
    return Math.max(0, available() - heapGrowth - RESERVE);
  }

  /** Whether so little memory is left now that a store must not take more, whatever its budget. */
  public static boolean tight() {
    return available() < RESERVE;
  }

  private static long available() {
    return Math.min(
        memAvailable(Path.of("/proc/meminfo")),
        groupFree(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup")));
  }

  /** Free bytes of the file system of {@code directory}, 0 if there is none. */
  public static long freeSpace(Path directory) {
    try {
      return Files.getFileStore(directory).getUsableSpace();
    } catch (IOException e) {
      return 0;
    }
  }

  /** The user id of this process. */
  public static long user() throws IOException {
    Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    return ((Integer) uid).longValue() & 0xffffffffL;
  }

  static long memAvailable(Path meminfo) {
    long kib = field(meminfo, "MemAvailable:");
    return kib < 0 ? UNLIMITED : kib << 10;
  }

  /**
   * The least limit - usage of the control groups above the process, version 1 and 2. File pages
   * that the kernel would drop first do not count as usage.
   *
   * @param membership in the form of /proc/self/cgroup
   * @param mount where the hierarchies are mounted
   */
  static long groupFree(Path membership, Path mount) {
    long free = UNLIMITED;
    for (String line : lines(membership)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        free =
            Math.min(free, free(mount, parts[2], "memory.max", "memory.current", "inactive_file"));
      } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        free =
            Math.min(
                free,
                free(
                    mount.resolve("memory"),
                    parts[2],
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_inactive_file"));
      }
    }
    return free;
  }

  /** Walks from the group of the process to the root, which in a container is its own. */
  private static long free(
      Path root, String group, String limitName, String usageName, String inactiveName) {
    long free = UNLIMITED;
    Path relative = Path.of("/").relativize(Path.of(group).normalize());
    for (Path at = root.resolve(relative); at != null && at.startsWith(root); at = at.getParent()) {
      long limit = number(at.resolve(limitName));
      long usage = number(at.resolve(usageName));
      if (limit >= 0 && usage >= 0) {
        long inactive = Math.max(0, field(at.resolve("memory.stat"), inactiveName));
        free = Math.min(free, Math.max(0, limit - Math.max(0, usage - inactive)));
      }
    }
    return free;
  }

  /** The number alone in a file; -1 if there is none, as where the limit is "max". */
  private static long number(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? -1 : parse(lines.get(0).trim());
  }

  /** The number after {@code name} in a file of names and numbers, -1 if there is none. */
  private static long field(Path file, String name) {
    for (String line : lines(file)) {
      String[] words = line.trim().split("\\s+", 3);
      if (words.length >= 2 && words[0].equals(name)) {
        return parse(words[1]);
      }
    }
    return -1;
  }

  private static long parse(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static List<String> lines(Path file) {
    try (BufferedReader reader =
        new BufferedReader(new FileReader(file.toFile(), StandardCharsets.UTF_8))) {
      return reader.lines().toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }
}
