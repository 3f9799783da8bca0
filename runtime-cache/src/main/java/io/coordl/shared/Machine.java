package io.coordl.shared;

import com.sun.management.OperatingSystemMXBean;
import io.coordl.event.EnvironmentEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.live.Owner;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the machine and the container leave to this process. */
public final class Machine {
  /** The part of a limit that is left alone, for what the kernel and the JVM take besides. */
  private static final int RESERVED_PART = 32;

  /** Enough on the largest machine. */
  private static final long LARGEST_RESERVE = 256L << 20;

  /** Of /proc/self/stat, behind the name of the program. */
  private static final int FAULTS = 7;

  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final long TICK = 10_000_000;

  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path STAT = Path.of("/proc/self/stat");
  private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  private Machine() {}

  /**
   * Memory with a limit: of the host, or of a control group.
   *
   * @param limit in bytes
   * @param available what of it is free, or taken by what the kernel gives up when it is asked, as
   *     the page cache
   */
  record Room(long limit, long available) {
    /** What may be taken of it; negative if it is overdrawn. */
    long spare() {
      return available - reserve();
    }

    private long reserve() {
      return Math.min(LARGEST_RESERVE, limit / RESERVED_PART);
    }

    /** Whether so little is spare that no more must be taken; if it was so, until twice is free. */
    boolean tight(boolean before, long heapGrowth) {
      return spare() - heapGrowth < (before ? reserve() : 0);
    }
  }

  /**
   * Bytes of memory a store may take: the least that the host and each control group above this
   * process have available, less what the heap may still grow by and a share of the limit.
   */
  public static long freeMemory() {
    Runtime runtime = Runtime.getRuntime();
    long used = runtime.totalMemory() - runtime.freeMemory();
    return Math.max(
        0, room().spare() - heapGrowth(runtime.maxMemory(), runtime.totalMemory(), used, STATUS));
  }

  /**
   * What the heap may still grow by. Of one just made, what is not used has no memory behind it
   * yet, unless the process has that much already, as with {@code -XX:+AlwaysPreTouch}.
   */
  static long heapGrowth(long most, long made, long used, Path status) {
    long resident =
        Math.max(0, field(status, "RssAnon:")) + Math.max(0, field(status, "RssShmem:"));
    return most - (resident << 10 >= made ? made : used);
  }

  /** Says what machine this is; what cannot be told stays as it is. */
  public static void describe(EnvironmentEvent event) {
    List<String> name = lines(HOST_NAME);
    event.host = name.isEmpty() ? System.getenv("COMPUTERNAME") : name.get(0);
    event.system =
        String.format(
            "%s %s, %s",
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            System.getProperty("os.arch"));
    event.cores = Runtime.getRuntime().availableProcessors();
    // To ask the JVM takes 15 ms.
    long limit = room().limit();
    event.memory = limit == Long.MAX_VALUE ? memory() : limit;
  }

  /** Says what this process has used so far; nothing where there is no /proc. */
  public static void describe(JobStatisticsEvent event) {
    describe(event, STAT);
  }

  /** As the file says, whose times are in ticks of 10 ms. */
  static void describe(JobStatisticsEvent event, Path stat) {
    String text = String.join(" ", lines(stat));
    String[] fields = text.substring(text.lastIndexOf(')') + 1).trim().split(" ", -1);
    if (fields.length > SYSTEM) {
      event.pageFaults = parse(fields[FAULTS]);
      event.userTime = TICK * parse(fields[USER]);
      event.kernelTime = TICK * parse(fields[SYSTEM]);
    }
  }

  /** Of the host or container in bytes; 0 if the JVM was made without what tells. */
  public static long memory() {
    try {
      return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
          ? system.getTotalMemorySize()
          : 0;
    } catch (LinkageError e) {
      return 0;
    }
  }

  /**
   * Whether so little memory is left now that a store must not take more, whatever its budget: by
   * the law of {@link #freeMemory}, but that the heap as it is has its memory by now. It matters
   * whether it was so {@code before}.
   */
  public static boolean tight(boolean before) {
    Runtime runtime = Runtime.getRuntime();
    return room().tight(before, runtime.maxMemory() - runtime.totalMemory());
  }

  private static Room room() {
    return room(MEMINFO, MEMBERSHIP, GROUPS);
  }

  /**
   * Bytes a store may take of the file system of {@code directory}, 0 if there is none: what is
   * free but for a sixteenth, since the program and other jobs have files there too.
   */
  public static long freeSpace(Path directory) {
    try {
      long free = Files.getFileStore(directory).getUsableSpace();
      return free - free / 16;
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * The number of this user, who shares memory with other jobs; throws with a sentence for the user
   * on systems other than Linux.
   */
  public static long user() throws IOException {
    if (!Files.exists(MEMBERSHIP.getParent())) {
      throw new IOException("What jobs share needs Linux, and there is no /proc here.");
    }
    return Owner.user();
  }

  /**
   * The room with the least to spare: the host's and those of the control groups above the process,
   * version 1 and 2.
   *
   * @param meminfo in the form of /proc/meminfo
   * @param membership in the form of /proc/self/cgroup
   * @param mount where the hierarchies are mounted
   */
  static Room room(Path meminfo, Path membership, Path mount) {
    long total = field(meminfo, "MemTotal:");
    long available = field(meminfo, "MemAvailable:");
    Room least =
        total < 0 || available < 0
            ? new Room(Long.MAX_VALUE, Long.MAX_VALUE)
            : new Room(total << 10, available << 10);
    for (String line : lines(membership)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        least = least(least, mount, parts[2], "memory.max", "memory.current", "");
      } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        Path memory = mount.resolve("memory");
        String limit = "memory.limit_in_bytes";
        least = least(least, memory, parts[2], limit, "memory.usage_in_bytes", "total_");
      }
    }
    return least;
  }

  /** Walks from the group of the process to the root, which in a container is its own. */
  private static Room least(
      Room found, Path root, String group, String limitName, String usageName, String prefix) {
    Room least = found;
    Path relative = Path.of("/").relativize(Path.of(group).normalize());
    for (Path at = root.resolve(relative); at != null && at.startsWith(root); at = at.getParent()) {
      long limit = number(at.resolve(limitName));
      long usage = number(at.resolve(usageName));
      if (limit >= 0 && usage >= 0) {
        Room here = new Room(limit, limit - Math.max(0, usage - reclaimable(at, prefix)));
        least = here.spare() < least.spare() ? here : least;
      }
    }
    return least;
  }

  /** Pages of files, in use or not, which the kernel drops before it refuses memory. */
  private static long reclaimable(Path group, String prefix) {
    Path stat = group.resolve("memory.stat");
    return Math.max(0, field(stat, prefix + "inactive_file"))
        + Math.max(0, field(stat, prefix + "active_file"));
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
