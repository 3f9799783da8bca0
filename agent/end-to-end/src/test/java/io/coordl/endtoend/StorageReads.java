package io.coordl.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A process's reads of a directory's files, counted from outside by strace: how often each was
 * opened, and how many bytes were read in total. Immutable.
 *
 * @param opens number of opens by name relative to the directory
 * @param bytes bytes read from all files
 */
record StorageReads(Map<String, Integer> opens, long bytes) {
  private static final Pattern OPENED = Pattern.compile("openat\\(.*\\) = \\d+<(?<path>/[^>]*)>$");
  private static final Pattern READ =
      Pattern.compile("(?:read|pread64)\\(\\d+<(?<path>/[^>]*)>, .* = (?<count>\\d+)$");

  /** Returns the command prefix that traces into files whose names begin with {@code output}. */
  static List<String> trace(Path output) {
    return List.of(
        "strace",
        "-ff", // A file per thread, so that no line is split.
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-s",
        "0",
        "-e",
        "trace=openat,read,pread64",
        "-e",
        "signal=none",
        "-o",
        output.toString());
  }

  /**
   * Returns the reads of files below {@code directory}, from the traces whose names begin with
   * {@code output}.
   */
  static StorageReads of(Path output, Path directory) throws IOException {
    Map<String, Integer> opens = new TreeMap<>();
    long bytes = 0;
    String below = directory.toRealPath() + "/";
    try (Stream<Path> files = Files.list(output.getParent())) {
      for (Path file :
          files
              .filter(f -> f.getFileName().toString().startsWith(output.getFileName() + "."))
              .toList()) {
        for (String line : Files.readAllLines(file)) {
          Matcher opened = OPENED.matcher(line);
          if (opened.find()
              && opened.group("path").startsWith(below)
              && !Files.isDirectory(Path.of(opened.group("path")))) {
            opens.merge(opened.group("path").substring(below.length()), 1, Integer::sum);
          }
          Matcher read = READ.matcher(line);
          if (read.find() && read.group("path").startsWith(below)) {
            bytes += Long.parseLong(read.group("count"));
          }
        }
      }
    }
    return new StorageReads(opens, bytes);
  }

  /**
   * Returns a sentence if files were not opened as often as expected, or not read completely each
   * time; empty if everything is as expected.
   */
  String differenceFrom(Path directory, Map<String, Integer> expected) throws IOException {
    Set<String> all = new TreeSet<>(expected.keySet());
    all.addAll(opens.keySet());
    List<String> different = new ArrayList<>();
    long expectedBytes = 0;
    for (String name : all) {
      int expectedOpens = expected.getOrDefault(name, 0);
      int counted = opens.getOrDefault(name, 0);
      if (counted != expectedOpens) {
        different.add(name + " " + counted + " times instead of " + expectedOpens);
      }
      expectedBytes += expectedOpens == 0 ? 0 : expectedOpens * Files.size(directory.resolve(name));
    }
    if (!different.isEmpty()) {
      return different.size()
          + " of "
          + all.size()
          + " files were not opened as often as expected: "
          + different.subList(0, Math.min(5, different.size()));
    }
    return bytes == expectedBytes ? "" : bytes + " bytes were read instead of " + expectedBytes;
  }

  /** Returns the sum of both. */
  StorageReads plus(StorageReads other) {
    Map<String, Integer> sum = new TreeMap<>(opens);
    other.opens.forEach((name, count) -> sum.merge(name, count, Integer::sum));
    return new StorageReads(sum, bytes + other.bytes);
  }
}
