package io.coordl.host;

import com.sun.management.OperatingSystemMXBean;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.live.Owner;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Measures the resources that the machine and the container leave to this process. */
public final class Machine {
  /** 1 / RESERVED_PART of a limit stays free for the kernel and the JVM. */
  private static final int RESERVED_PART = 32;

  /** Maximum reserve in bytes; enough on the largest machine. */
  private static final long MAX_RESERVE = 256L << 20;

  /** Indexes of fields in /proc/self/stat after the program name. */
  private static final int FAULTS = 7;

  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final long TICK_NANOS = 10_000_000;

  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path STAT = Path.of("/proc/self/stat");
  private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");
  private static final Path STALLS = Path.of("/proc/pressure/memory");

  private Machine() {}

  /**
   * Memory with a limit: of the host, or of a control group.
   *
   * @param limit in bytes
   * @param available bytes of this memory that are free or that the kernel can reclaim, such as the
   *     page cache
   * @param cache bytes of page cache within {@code available}
   * @param group whether a control group sets the limit
   * @param events how often the limit was reached so far
   * @param stalled percent of the last ten seconds in which nothing ran because memory was short; 0
   *     if the kernel does not report it
   */
  record Room(long limit, long available, long cache, boolean group, long events, double stalled) {
    Room(long limit, long available) {
      this(limit, available, 0, true, 0, 0);
    }

    /** Returns the bytes that may be taken; negative if less than the reserve is available. */
    long spare() {
      return available - reserve();
    }

    private long reserve() {
      return Math.min(MAX_RESERVE, limit / RESERVED_PART);
    }

    /**
     * Whether so little is spare that nothing more may be taken; if {@code before} is true, the
     * result stays true until twice the reserve is free.
     */
    boolean isTight(boolean before, long heapGrowth) {
      return spare() - heapGrowth < (before ? reserve() : 0);
    }
  }

  /**
   * Returns the bytes of memory that a store may take: the minimum of what the host and each
   * control group above this process have available, minus the heap's possible growth and a share
   * of the limit.
   */
  public static long freeMemory() {
    return Math.max(0, room().spare() - heapGrowth());
  }

  /**
   * Returns the bytes by which the heap may still grow. The unused part of a new heap has no memory
   * behind it yet, unless the process already occupies as much memory as the heap has committed, as
   * with {@code -XX:+AlwaysPreTouch}.
   *
   * @param committed bytes of the heap that the JVM has committed, used or not
   */
  static long heapGrowth(long max, long committed, long used, Path status) {
    List<String> lines = lines(status);
    long resident = Math.max(0, field(lines, "RssAnon:")) + Math.max(0, field(lines, "RssShmem:"));
    return max - (resident << 10 >= committed ? committed : used);
  }

  /** Describes this machine; unknown fields stay as they are. */
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
    event.cpuLimit = KernelCores.limit();
    // Call memory() only if no limit is known, because it takes 15 ms.
    long limit = room().limit();
    event.memory = limit == Long.MAX_VALUE ? memory() : limit;
  }

  /** Describes what this process has used so far; does nothing if there is no /proc. */
  public static void describe(JobStatisticsEvent event) {
    describe(event, STAT);
  }

  /**
   * Returns the CPU time of a process in nanoseconds, a multiple of 10 ms; 0 if there is no such
   * file.
   */
  static long cpuTime(Path stat) {
    JobStatisticsEvent used = new JobStatisticsEvent();
    describe(used, stat);
    return used.userTime + used.kernelTime;
  }

  /** Reads the figures from {@code stat}, whose times are in ticks of 10 ms. */
  static void describe(JobStatisticsEvent event, Path stat) {
    String text = String.join(" ", lines(stat));
    String[] fields = text.substring(text.lastIndexOf(')') + 1).trim().split(" ", -1);
    if (fields.length > SYSTEM) {
      event.pageFaults = parse(fields[FAULTS]);
      event.userTime = TICK_NANOS * parse(fields[USER]);
      event.kernelTime = TICK_NANOS * parse(fields[SYSTEM]);
    }
  }

  /** Returns the bytes of host or container memory; 0 if the JVM lacks the module for that. */
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
   * Whether so little memory is left that a store must not take more, whatever its budget. Same
   * rule as {@link #freeMemory}, except that only heap growth beyond the committed size counts.
   *
   * @param before the previous result; if true, more must be free for the result to change
   */
  public static boolean isTight(boolean before) {
    Runtime runtime = Runtime.getRuntime();
    return room().isTight(before, runtime.maxMemory() - runtime.totalMemory());
  }

  /** Returns the bytes by which the heap of this JVM may still grow. */
  static long heapGrowth() {
    Runtime runtime = Runtime.getRuntime();
    long used = runtime.totalMemory() - runtime.freeMemory();
    return heapGrowth(runtime.maxMemory(), runtime.totalMemory(), used, STATUS);
  }

  /** Returns the bytes of this process that no file backs: heap and native memory. */
  static long anonymous() {
    return Math.max(0, field(lines(STATUS), "RssAnon:")) << 10;
  }

  private static Room room() {
    return least(rooms());
  }

  /** Returns the memory room of the host and of each control group above this process. */
  static List<Room> rooms() {
    return rooms(MEMINFO, STALLS, MEMBERSHIP, GROUPS);
  }

  /**
   * Returns the bytes that a store may take on the file system of {@code directory}: the free space
   * minus a sixteenth, because the program and other jobs have files there too. 0 if there is no
   * such directory.
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
   * Returns the id of this user, whose jobs share memory.
   *
   * @throws IOException with a sentence for the user on systems other than Linux
   */
  public static long user() throws IOException {
    if (!Files.exists(MEMBERSHIP.getParent())) {
      throw new IOException("Sharing between jobs needs Linux, and there is no /proc here.");
    }
    return Owner.user();
  }

  /**
   * Returns the memory room of the host and of each control group (version 1 or 2) above the
   * process.
   *
   * @param meminfo in the form of /proc/meminfo
   * @param stalls in the form of /proc/pressure/memory
   * @param membership in the form of /proc/self/cgroup
   * @param mount where the hierarchies are mounted
   */
  static List<Room> rooms(Path meminfo, Path stalls, Path membership, Path mount) {
    List<Room> rooms = new ArrayList<>();
    List<String> host = lines(meminfo);
    long total = field(host, "MemTotal:");
    long available = field(host, "MemAvailable:");
    if (total < 0 || available < 0) {
      rooms.add(new Room(Long.MAX_VALUE, Long.MAX_VALUE));
    } else {
      long files =
          Math.max(0, field(host, "Active(file):")) + Math.max(0, field(host, "Inactive(file):"));
      long cache = Math.min(available, files) << 10;
      rooms.add(new Room(total << 10, available << 10, cache, false, 0, stalled(stalls)));
    }
    for (String line : lines(membership)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        walk(mount, parts[2], Machine::room2, rooms);
      } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        walk(mount.resolve("memory"), parts[2], Machine::room1, rooms);
      }
    }
    return rooms;
  }

  /** Returns the room with the fewest spare bytes. */
  static Room least(List<Room> rooms) {
    return Collections.min(rooms, Comparator.comparingLong(Room::spare));
  }

  /**
   * Reads each control group from that of the process up to the root, which in a container is the
   * container's own group.
   */
  static <T> void walk(Path root, String group, Function<Path, @Nullable T> reader, List<T> found) {
    for (Path at = directory(root, group); at != null && at.startsWith(root); at = at.getParent()) {
      T here = reader.apply(at);
      if (here != null) {
        found.add(here);
      }
    }
  }

  /**
   * Resolves a group's path. A name may consist of any bytes, even of bytes that are not text in
   * this JVM's encoding.
   */
  static Path directory(Path root, String group) {
    Path at = root;
    for (String name : group.split("/", -1)) {
      if (!name.isEmpty() && !name.equals("..")) {
        at = name.chars().allMatch(letter -> letter < 0x80) ? at.resolve(name) : listed(at, name);
      }
    }
    return at;
  }

  /**
   * Returns the entry whose name consists of these bytes; the directory itself if there is none.
   */
  private static Path listed(Path directory, String bytes) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        String uri = entry.toUri().getRawPath().replaceFirst("/$", "").replace("+", "%2B");
        String name = uri.substring(uri.lastIndexOf('/') + 1);
        if (URLDecoder.decode(name, StandardCharsets.ISO_8859_1).equals(bytes)) {
          return entry;
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // The group's limit is unknown.
    }
    return directory;
  }

  /** Reads a group of version 1; null without a limit. */
  private static @Nullable Room room1(Path group) {
    long limit = number(group.resolve("memory.limit_in_bytes"));
    long usage = number(group.resolve("memory.usage_in_bytes"));
    long events = Math.max(0, number(group.resolve("memory.failcnt")));
    return room(group, limit, usage, "total_", events, 0);
  }

  /** Reads a group of version 2, which may be throttled before it reaches its limit. */
  private static @Nullable Room room2(Path group) {
    long max = number(group.resolve("memory.max"));
    long high = number(group.resolve("memory.high"));
    long limit = max < 0 || high < 0 ? Math.max(max, high) : Math.min(max, high);
    long usage = number(group.resolve("memory.current"));
    long events = 0;
    List<String> lines = lines(group.resolve("memory.events"));
    for (String event : List.of("high", "max", "oom", "oom_kill")) {
      events += Math.max(0, field(lines, event));
    }
    return room(group, limit, usage, "", events, stalled(group.resolve("memory.pressure")));
  }

  private static @Nullable Room room(
      Path group, long limit, long usage, String prefix, long events, double stalled) {
    if (limit < 0 || usage < 0) {
      return null;
    }
    // File pages, in use or not: the kernel drops them before it refuses memory.
    List<String> stat = lines(group.resolve("memory.stat"));
    long files =
        Math.max(0, field(stat, prefix + "inactive_file"))
            + Math.max(0, field(stat, prefix + "active_file"));
    long cache = Math.min(usage, files);
    return new Room(limit, limit - usage + cache, cache, true, events, stalled);
  }

  /** Returns the percentage in {@code full avg10=1.25 avg60=...}; 0 if there is none. */
  private static double stalled(Path pressure) {
    for (String line : lines(pressure)) {
      String[] words = line.split("[ =]", 4);
      if (words.length > 2 && words[0].equals("full") && words[1].equals("avg10")) {
        try {
          return Double.parseDouble(words[2]);
        } catch (NumberFormatException e) {
          return 0;
        }
      }
    }
    return 0;
  }

  /** Returns the number in a file; -1 if its content is not a number, such as the limit "max". */
  static long number(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? -1 : parse(lines.get(0).trim());
  }

  /** Returns the number after {@code name} in lines of names and numbers; -1 if there is none. */
  static long field(List<String> lines, String name) {
    for (String line : lines) {
      if (line.startsWith(name)) {
        String[] words = line.trim().split("\\s+", 3);
        if (words.length >= 2 && words[0].equals(name)) {
          return parse(words[1]);
        }
      }
    }
    return -1;
  }

  static long parse(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Returns a file's lines, even on a program thread without permission; none if unreadable. */
  @SuppressWarnings("removal") // JDK 17 has security managers.
  static List<String> lines(Path file) {
    PrivilegedAction<List<String>> reading = () -> read(file);
    return AccessController.doPrivileged(reading);
  }

  /** Reads lines, each byte as one letter: names in these files may be in any encoding. */
  private static List<String> read(Path file) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(open(file), StandardCharsets.ISO_8859_1))) {
      return reader.lines().toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  /** Opens a file, if possible without direct memory, because the program may have none left. */
  private static InputStream open(Path file) throws IOException {
    try {
      return new FileInputStream(file.toFile());
    } catch (FileNotFoundException e) {
      return Files.newInputStream(file);
    }
  }
}
