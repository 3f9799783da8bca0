package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads the logs that the examples write: see their BatchLog class for the lines. */
public final class BatchLogs {
  private BatchLogs() {}

  /** Seconds of every epoch in {@code log}. */
  public static List<Double> epochSeconds(Path log) throws IOException {
    return lines(log, "epoch ").stream()
        .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)) / 1e3)
        .toList();
  }

  /**
   * The first batch that was fed or lost something else in {@code other} than in {@code log}, as a
   * sentence; empty if both runs are bit for bit the same.
   */
  public static Optional<String> firstDifference(Path log, Path other) throws IOException {
    List<String> expected = lines(log, "batch ");
    List<String> actual = lines(other, "batch ");
    for (int i = 0; i < Math.min(expected.size(), actual.size()); i++) {
      if (!expected.get(i).equals(actual.get(i))) {
        return Optional.of(
            log.getFileName()
                + " says \""
                + expected.get(i)
                + "\", "
                + other.getFileName()
                + " says \""
                + actual.get(i)
                + "\"");
      }
    }
    if (expected.isEmpty() || expected.size() != actual.size()) {
      return Optional.of(
          log.getFileName()
              + " has "
              + expected.size()
              + " batches, "
              + other.getFileName()
              + " has "
              + actual.size());
    }
    return Optional.empty();
  }

  private static List<String> lines(Path log, String prefix) throws IOException {
    return Files.readAllLines(log).stream().filter(line -> line.startsWith(prefix)).toList();
  }
}
