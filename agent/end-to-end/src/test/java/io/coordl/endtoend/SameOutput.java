package io.coordl.endtoend;

import io.coordl.harness.ChildResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the output of two runs of a program, which includes checksums of arrays. If checksums
 * differ, the failure shows the bytes, their owners (test programs save both, see {@code
 * example.bits.Checksum}) and the job's standard error: a difference that shows up once in hundreds
 * of runs must be understood the first time.
 */
final class SameOutput {
  private static final Path BYTES = directory();
  private static final Pattern CHECKSUM = Pattern.compile("\\b[0-9a-f]{8}\\b");
  private static final int MAX_LINES = 5;
  private static final int MAX_BYTES = 96;

  private SameOutput() {}

  private static Path directory() {
    try {
      return Workshop.empty("bytes");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the JVM argument that makes a test program save the bytes behind its checksums. */
  static String keepsBytes() {
    return "-Dexample.bytes=" + BYTES;
  }

  /** Fails unless {@code job} printed the same as {@code plain}. */
  static void check(ChildResult job, ChildResult plain) {
    check("The job", job, plain.out());
  }

  /** As above, for a job identified by {@code name}. */
  static void check(String name, ChildResult job, String plain) {
    if (!job.out().equals(plain)) {
      throw new AssertionError(
          name
              + ": "
              + difference(plain, job.out())
              + "\nStandard error of the job:\n"
              + job.err());
    }
  }

  /** Describes where two outputs differ. */
  static String difference(String plain, String job) {
    List<String> expected = plain.lines().toList();
    List<String> actual = job.lines().toList();
    StringBuilder text = new StringBuilder();
    int differences = 0;
    for (int i = 0; i < Math.max(expected.size(), actual.size()); i++) {
      String before = i < expected.size() ? expected.get(i) : "";
      String now = i < actual.size() ? actual.get(i) : "";
      if (!before.equals(now)) {
        differences++;
        if (differences <= MAX_LINES) {
          text.append("\nLine ").append(i + 1).append(" is\n  ").append(now);
          text.append("\ninstead of\n  ").append(before).append('\n').append(bytes(before, now));
        }
      }
    }
    return differences + " of " + expected.size() + " lines differ." + text;
  }

  /** Returns the bytes behind the checksums that differ. */
  private static String bytes(String before, String now) {
    StringBuilder text = new StringBuilder();
    Matcher expected = CHECKSUM.matcher(before);
    Matcher actual = CHECKSUM.matcher(now);
    while (expected.find() && actual.find()) {
      if (!expected.group().equals(actual.group())) {
        text.append(bytesOf(actual.group(), expected.group()));
      }
    }
    return text.toString();
  }

  private static String bytesOf(String actual, String expected) {
    try {
      byte[] now = Files.readAllBytes(BYTES.resolve(actual + ".bytes"));
      byte[] before = Files.readAllBytes(BYTES.resolve(expected + ".bytes"));
      int first = Math.max(0, Arrays.mismatch(now, before));
      long count = 0;
      for (int i = 0; i < Math.min(now.length, before.length); i++) {
        count += now[i] == before[i] ? 0 : 1;
      }
      return String.format(
          "%s has %s bytes, %s of which differ from those of %s, starting at byte %s:%n  %s%n  %s%n"
              + "The memory that they were read from (%s):%n%s(%s:)%n%s",
          actual,
          now.length,
          count,
          expected,
          first,
          hex(now, first),
          hex(before, first),
          actual,
          held(actual),
          expected,
          held(expected));
    } catch (IOException e) {
      return "no bytes saved for " + actual + " or " + expected + " (" + e + ")\n";
    }
  }

  private static String held(String checksum) throws IOException {
    Path held = BYTES.resolve(checksum + ".held");
    return Files.exists(held) ? Files.readString(held).indent(2) : "  (unknown)\n";
  }

  private static String hex(byte[] bytes, int from) {
    int end = Math.min(bytes.length, from + MAX_BYTES);
    return from >= end ? "(no more)" : HexFormat.of().formatHex(bytes, from, end);
  }
}
