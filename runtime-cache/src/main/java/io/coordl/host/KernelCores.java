package io.coordl.host;

import io.coordl.telemetry.event.Figures;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The kernel's counters of CPU time and of waits for a core: CPU times and run-queue delays of
 * threads (schedstat), throttling of control groups of version 1 and 2, and pressure. Counters that
 * a kernel lacks stay 0. Except for the CPU time, the counters of the process are read at most
 * every 250 ms, because reading them takes about ten microseconds per thread.
 */
public final class KernelCores implements CoreTimes {
  static final long PAUSE_NANOS = 250_000_000;

  /** Name prefixes of the JVM's compiler threads: HotSpot, Graal, OpenJ9. */
  private static final List<String> COMPILERS =
      List.of("C1 Compiler", "C2 Compiler", "JVMCI Compiler", "JIT Compilation");

  /**
   * Name prefixes of the JVM's garbage collector threads; the VM Thread runs serial collections.
   */
  private static final List<String> COLLECTORS =
      List.of(
          "GC Thread",
          "G1 ",
          "VM Thread",
          "ZWorker",
          "ZDriver",
          "XWorker",
          "XDriver",
          "Shenandoah",
          "GC Worker");

  private static final Path PROC = Path.of("/proc");
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  private final Path proc;
  private final Path groups;
  private final LongSupplier clock;

  /** The last reading of each thread, by thread id. */
  private Map<String, Reading> readings = new HashMap<>();

  /** Sums over the last readings of the threads that have ended. */
  private final Sums ended = new Sums();

  private Sums sums = new Sums();
  private long throttled;
  private long pressure;
  private long next = Long.MIN_VALUE;

  public KernelCores() {
    this(PROC, GROUPS, System::nanoTime);
  }

  /** For tests, with their own files and clock. */
  KernelCores(Path proc, Path groups, LongSupplier clock) {
    this.proc = proc;
    this.groups = groups;
    this.clock = clock;
  }

  @Override
  public long ofThread() {
    long[] times = times(proc.resolve("thread-self/schedstat"));
    return times.length == 0 ? 0 : times[1];
  }

  @Override
  public synchronized void ofProcess(Figures figures) {
    long now = clock.getAsLong();
    if (next == Long.MIN_VALUE || now - next >= 0) {
      next = now + PAUSE_NANOS;
      readThreads();
      Path membership = proc.resolve("self/cgroup");
      throttled = Collections.max(limits(membership), KernelCores::byThrottled).throttled();
      pressure = pressure();
    }
    figures.cpu = Machine.cpuTime(proc.resolve("self/stat"));
    figures.compilerCpu = sums.compilers;
    figures.collectorCpu = sums.collectors;
    figures.coreWait = sums.waited;
    figures.jvmCoreWait = sums.jvmWaited;
    figures.throttled = throttled;
    figures.pressure = pressure;
  }

  private enum Work {
    COMPILER,
    COLLECTOR,
    OTHER
  }

  /** A thread's CPU time and waits for a core so far, in nanoseconds. */
  private record Reading(long cpu, long waited, Work work) {}

  /** Sums over threads, in nanoseconds. */
  private static final class Sums {
    long compilers;
    long collectors;
    long waited;
    long jvmWaited;

    void add(Sums more) {
      compilers += more.compilers;
      collectors += more.collectors;
      waited += more.waited;
      jvmWaited += more.jvmWaited;
    }

    void add(Reading reading) {
      waited += reading.waited();
      jvmWaited += reading.work() == Work.OTHER ? 0 : reading.waited();
      switch (reading.work()) {
        case COMPILER -> compilers += reading.cpu();
        case COLLECTOR -> collectors += reading.cpu();
        case OTHER -> {}
      }
    }
  }

  /** Reads and sums the times of all threads; ended threads count with their last reading. */
  private void readThreads() {
    Map<String, Reading> now = new HashMap<>();
    for (String thread : threads()) {
      Path folder = proc.resolve("self/task/" + thread);
      long[] times = times(folder.resolve("schedstat"));
      Reading before = readings.get(thread);
      if (times.length == 0) { // The thread has just ended, or its file cannot be opened now.
        if (before != null) {
          now.put(thread, before);
        }
      } else if (before != null && times[0] >= before.cpu() && times[1] >= before.waited()) {
        now.put(thread, new Reading(times[0], times[1], before.work()));
      } else {
        now.put(thread, new Reading(times[0], times[1], work(folder)));
        if (before != null) { // Another thread has reused the id.
          ended.add(before);
        }
      }
    }
    readings.forEach(
        (thread, before) -> {
          if (!now.containsKey(thread)) {
            ended.add(before);
          }
        });
    readings = now;
    sums = new Sums();
    sums.add(ended);
    now.values().forEach(sums::add);
  }

  private static Work work(Path thread) {
    List<String> lines = Machine.lines(thread.resolve("comm"));
    String name = lines.isEmpty() ? "" : lines.get(0);
    return COMPILERS.stream().anyMatch(name::startsWith)
        ? Work.COMPILER
        : COLLECTORS.stream().anyMatch(name::startsWith) ? Work.COLLECTOR : Work.OTHER;
  }

  @SuppressWarnings("removal") // JDK 17 has security managers.
  private List<String> threads() {
    PrivilegedAction<List<String>> listing =
        () -> {
          List<String> names = new ArrayList<>();
          try (DirectoryStream<Path> all = Files.newDirectoryStream(proc.resolve("self/task"))) {
            all.forEach(thread -> names.add(String.valueOf(thread.getFileName())));
          } catch (IOException | DirectoryIteratorException e) {
            // There is no /proc.
          }
          return names;
        };
    return AccessController.doPrivileged(listing);
  }

  /** Returns a schedstat's CPU time and wait for a core, in nanoseconds; empty if absent. */
  private static long[] times(Path schedstat) {
    List<String> lines = Machine.lines(schedstat);
    String[] words = lines.isEmpty() ? new String[0] : lines.get(0).split(" ", 3);
    return words.length < 2
        ? new long[0]
        : new long[] {Math.max(0, Machine.parse(words[0])), Math.max(0, Machine.parse(words[1]))};
  }

  /**
   * Returns the pressure of the process's own group or, if that does not report it, of the host.
   */
  private long pressure() {
    for (String line : Machine.lines(proc.resolve("self/cgroup"))) {
      if (line.startsWith("0::")) {
        long group = some(Machine.directory(groups, line.substring(3)).resolve("cpu.pressure"));
        if (group >= 0) {
          return group;
        }
      }
    }
    return Math.max(0, some(proc.resolve("pressure/cpu")));
  }

  /** Returns the nanoseconds in {@code some avg10=... total=MICROSECONDS}; -1 if absent. */
  private static long some(Path file) {
    for (String line : Machine.lines(file)) {
      int at = line.indexOf("total=");
      if (line.startsWith("some ") && at > 0) {
        return 1_000 * Math.max(0, Machine.parse(line.substring(at + "total=".length())));
      }
    }
    return -1;
  }

  /**
   * The CPU limit of a control group.
   *
   * @param cores number of cores that it allows; infinite without a limit
   * @param throttled nanoseconds for which threads were throttled, summed over cores
   */
  record Limit(double cores, long throttled) {
    private static final Limit NONE = new Limit(Double.POSITIVE_INFINITY, 0);
  }

  private static int byThrottled(Limit one, Limit other) {
    return Long.compare(one.throttled(), other.throttled());
  }

  /** Returns the cores that the quotas of all groups above the process allow; 0 without a quota. */
  static double limit() {
    return limit(PROC.resolve("self/cgroup"), GROUPS);
  }

  static double limit(Path membership, Path mount) {
    double smallest = limits(membership, mount).stream().mapToDouble(Limit::cores).min().orElse(0);
    return Double.isInfinite(smallest) ? 0 : smallest;
  }

  private List<Limit> limits(Path membership) {
    return limits(membership, groups);
  }

  /** Returns the limits of the groups above the process, and one that limits nothing. */
  private static List<Limit> limits(Path membership, Path mount) {
    List<Limit> limits = new ArrayList<>(List.of(Limit.NONE));
    for (String line : Machine.lines(membership)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        Machine.walk(mount, parts[2], KernelCores::limit2, limits);
      } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("cpu")) {
        Machine.walk(mount.resolve("cpu"), parts[2], KernelCores::limit1, limits);
      }
    }
    return limits;
  }

  private static Limit limit1(Path group) {
    long quota = Machine.number(group.resolve("cpu.cfs_quota_us"));
    long period = Machine.number(group.resolve("cpu.cfs_period_us"));
    return limit(quota, period, Machine.field(stat(group), "throttled_time"));
  }

  /** Reads a file that contains {@code quota period}, or {@code max period}. */
  private static Limit limit2(Path group) {
    List<String> lines = Machine.lines(group.resolve("cpu.max"));
    String[] words = lines.isEmpty() ? new String[0] : lines.get(0).trim().split(" ", 3);
    long throttled = Machine.field(stat(group), "throttled_usec");
    return words.length < 2
        ? Limit.NONE
        : limit(Machine.parse(words[0]), Machine.parse(words[1]), 1_000 * Math.max(0, throttled));
  }

  private static List<String> stat(Path group) {
    return Machine.lines(group.resolve("cpu.stat"));
  }

  private static Limit limit(long quota, long period, long throttled) {
    return quota <= 0 || period <= 0
        ? Limit.NONE
        : new Limit((double) quota / period, Math.max(0, throttled));
  }
}
