package io.coordl.harness;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts with strace, from outside the JVM, how often a program opens data-set files. Only the
 * opening calls stop the program ({@code --seccomp-bpf}), so its timing barely changes.
 */
public final class OpenedFiles {
  private static final Pattern OPENED =
      Pattern.compile("open(?:at)?\\(.*\"(?<path>[^\"]+\\.jpg)\"(?:.*\\) = \\d+|.*<unfinished)");

  private OpenedFiles() {}

  /** Whether strace is installed and allowed here. */
  public static boolean canTrace() throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(
                  Stream.concat(trace(Path.of("/dev/null")).stream(), Stream.of("true")).toList())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the command prefix that traces a program into {@code output}. */
  public static List<String> trace(Path output) {
    return List.of(
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-s",
        "4096",
        "-e",
        "trace=open,openat",
        "-o",
        output.toString());
  }

  /** Returns how often {@code .jpg} files were opened, according to the trace in {@code output}. */
  public static long count(Path output) throws IOException {
    try (Stream<String> lines = Files.lines(output)) {
      return lines.filter(line -> OPENED.matcher(line).find()).count();
    }
  }

  /** Returns how often each {@code .jpg} file was opened; omits files that were never opened. */
  public static Map<Path, Long> byFile(Path output) throws IOException {
    try (Stream<String> lines = Files.lines(output)) {
      return lines
          .map(OPENED::matcher)
          .filter(Matcher::find)
          .collect(groupingBy(open -> Path.of(open.group("path")), TreeMap::new, counting()));
    }
  }
}
