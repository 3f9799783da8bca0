package io.coordl.reports;

import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Optimistic profiling (Synergy, OSDI'22): measures only the numbers of cores that matter. The
 * program runs in a CPU set, so its steps have fewer cores too.
 */
final class FewerCores {
  /** Steps to measure on each number of cores. */
  static final int STEPS = 50;

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String ALLOWED = "Cpus_allowed_list:";

  /** Loss of speed, as a fraction, up to which the next run halves the cores. */
  private static final double SMALL_LOSS = 0.1;

  private FewerCores() {}

  /** Returns the CPUs that this process may use. */
  static List<Integer> cpus() throws RecordingException {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(ALLOWED)) {
          return parse(line.substring(ALLOWED.length()).strip());
        }
      }
    } catch (IOException | NumberFormatException e) {
      // Reported below, like a missing line.
    }
    throw new RecordingException(
        ExitStatus.UNREADABLE, STATUS + " does not list the CPUs that this process may use.");
  }

  /** Parses a list such as {@code 0-3,8}. */
  static List<Integer> parse(String list) {
    List<Integer> cpus = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      String[] ends = part.strip().split("-", 2);
      int last = Integer.parseInt(ends[ends.length - 1]);
      for (int cpu = Integer.parseInt(ends[0]); cpu <= last; cpu++) {
        cpus.add(cpu);
      }
    }
    return cpus;
  }

  /**
   * Returns the number of cores to measure after {@code cores}.
   *
   * @param before speed on the previous number of cores; 0 if there is none
   * @param speed speed on {@code cores}
   */
  static int next(int cores, double before, double speed) {
    boolean hardlySlower = before == 0 || speed >= (1 - SMALL_LOSS) * before;
    return hardlySlower ? Math.max(1, cores / 2) : cores - Math.max(1, cores / 4);
  }

  static List<String> prefix(List<Integer> cpus, int cores) {
    return List.of(
        "taskset",
        "-c",
        cpus.subList(0, cores).stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  /** Returns samples per second with every item in memory; 0 if not measured. */
  static double speed(JobRecording recording) {
    return recording.phases().stream()
        .filter(phase -> "cached".equals(phase.phase) && phase.sampleNanos > 0)
        .mapToDouble(phase -> 1e9 / phase.sampleNanos)
        .reduce(0, (earlier, later) -> later);
  }

  static Path file(Path output, int cores) {
    String name = String.valueOf(output.getFileName()).replaceFirst("\\.jfr$", "");
    return output.resolveSibling(name + "-" + cores + (cores == 1 ? "-core.jfr" : "-cores.jfr"));
  }
}
