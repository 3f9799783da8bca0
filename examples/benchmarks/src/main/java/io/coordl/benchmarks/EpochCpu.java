package io.coordl.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * CPU time that a child JVM has used at the end of each epoch, read when the JVM prints the line of
 * the epoch. The child must be the only JVM among the descendants of a process, by default the
 * current one. Excludes JIT compiler threads, whose work varies between runs by more than the
 * measured effect and decreases over time. Reads /proc, so it works only on Linux. Safe for
 * concurrent use.
 */
final class EpochCpu implements Consumer<String> {
  private static final Pattern EPOCH = Pattern.compile("epoch (\\d+): .*");

  /** Fields of /proc/PID/stat after the name: user and system time, in ticks of 10 ms. */
  private static final int USER = 11;

  private static final int SYSTEM = 12;
  private static final double TICK_SECONDS = 0.01;

  private final Map<Integer, Double> ends = new ConcurrentHashMap<>();
  private volatile ProcessHandle root = ProcessHandle.current();

  /** Searches for the JVM below {@code process}. */
  void below(ProcessHandle process) {
    root = process;
  }

  @Override
  public void accept(String line) {
    Matcher epoch = EPOCH.matcher(line);
    if (epoch.matches()) {
      try {
        Optional<ProcessHandle> jvm = jvm();
        if (jvm.isPresent()) {
          ends.put(Integer.valueOf(epoch.group(1)), used(jvm.get()));
        }
      } catch (IOException e) {
        // A JVM may end right after it prints its last epoch.
      }
    }
  }

  /** Returns the CPU seconds from the end of epoch {@code from} to the end of epoch {@code to}. */
  double seconds(int from, int to) {
    Double begin = ends.get(from);
    Double end = ends.get(to);
    if (begin == null || end == null) {
      throw new IllegalStateException(
          "The job printed the ends of epochs " + ends.keySet() + ", expected " + from + ", " + to);
    }
    return end - begin;
  }

  private Optional<ProcessHandle> jvm() {
    return root.descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/java"))
        .findFirst();
  }

  private static double used(ProcessHandle jvm) throws IOException {
    Path process = Path.of("/proc", Long.toString(jvm.pid()));
    double seconds = cpu(process);
    try (Stream<Path> threads = Files.list(process.resolve("task"))) {
      for (Path thread : threads.toList()) {
        seconds -= isCompiler(thread) ? cpu(thread) : 0;
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return seconds;
  }

  private static boolean isCompiler(Path thread) throws IOException {
    try {
      return Files.readString(thread.resolve("comm")).matches("C[12] Compiler.*\\s*");
    } catch (NoSuchFileException e) {
      return false; // The thread has ended.
    }
  }

  private static double cpu(Path process) throws IOException {
    String stat = Files.readString(process.resolve("stat"));
    List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
    return TICK_SECONDS * (Long.parseLong(fields.get(USER)) + Long.parseLong(fields.get(SYSTEM)));
  }
}
