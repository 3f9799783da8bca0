package io.coordl.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the logs that the examples write; their BatchLog class documents the lines. */
public final class BatchLogs {
  private BatchLogs() {}

  /** Returns the duration of each epoch in {@code log}, in seconds. */
  public static List<Double> epochSeconds(Path log) throws IOException {
    return lines(log, "epoch ").stream()
        .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)) / 1e3)
        .toList();
  }

  /**
   * Returns a sentence about the first batch whose data, labels or loss differ between {@code log}
   * and {@code other}, about different numbers of batches, or about a log without batches; empty if
   * both runs are bit for bit the same.
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

  /**
   * Returns a sentence about the first epoch in {@code log} that did not use each of {@code
   * pictures} pictures exactly once, or about a wrong number of epochs; empty if all is well.
   */
  public static Optional<String> notOncePerEpoch(Path log, int pictures, int epochs)
      throws IOException {
    Map<String, List<String>> items = new LinkedHashMap<>();
    for (String line : lines(log, "items ")) {
      String[] words = line.split(" ", -1);
      items
          .computeIfAbsent(words[1], epoch -> new ArrayList<>())
          .addAll(Arrays.asList(words).subList(3, words.length));
    }
    if (items.size() != epochs || items.isEmpty()) {
      return Optional.of(
          log.getFileName() + " has " + items.size() + " epochs, expected " + epochs);
    }
    Set<String> first = new HashSet<>(items.values().iterator().next());
    for (Map.Entry<String, List<String>> epoch : items.entrySet()) {
      Set<String> different = new HashSet<>(epoch.getValue());
      if (epoch.getValue().size() != pictures
          || different.size() != pictures
          || !different.equals(first)) {
        return Optional.of(
            log.getFileName()
                + " has "
                + epoch.getValue().size()
                + " pictures in epoch "
                + epoch.getKey()
                + ", "
                + different.size()
                + " of them different, expected each of "
                + pictures
                + " once");
      }
    }
    return Optional.empty();
  }

  /** Returns the mean loss over the batches of one epoch. */
  public static double meanLoss(Path log, int epoch) throws IOException {
    return lines(log, "batch " + epoch + " ").stream()
        .mapToInt(line -> Integer.parseUnsignedInt(line.substring(line.lastIndexOf(' ') + 1), 16))
        .mapToDouble(Float::intBitsToFloat)
        .average()
        .orElse(Double.NaN);
  }

  /**
   * Returns how many batches of {@code log} have the same number, data and labels in {@code other}.
   */
  public static long sameBatches(Path log, Path other) throws IOException {
    Set<String> otherBatches = new HashSet<>(withoutLosses(other));
    return withoutLosses(log).stream().filter(otherBatches::contains).count();
  }

  /** Returns the number of batches in {@code log}. */
  public static long batches(Path log) throws IOException {
    return withoutLosses(log).size();
  }

  /** Returns the lines of the batches without their losses. */
  private static List<String> withoutLosses(Path log) throws IOException {
    return lines(log, "batch ").stream()
        .map(line -> line.substring(0, line.lastIndexOf(' ')))
        .toList();
  }

  private static List<String> lines(Path log, String prefix) throws IOException {
    return Files.readAllLines(log).stream().filter(line -> line.startsWith(prefix)).toList();
  }
}
