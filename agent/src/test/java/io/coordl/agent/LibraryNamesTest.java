package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No string constant or resource outside the libraries' folders names a library or its types. */
final class LibraryNamesTest {
  private static final Path ROOT = Path.of("..");

  private static final Pattern NAME =
      Pattern.compile(
          "djl|dl4j|nd4j|datavec|deeplearning4j|samediff|easytrain|ndarray|ndmanager"
              + "|multilayernetwork|computationgraph|recordreader|datasetiterator",
          Pattern.CASE_INSENSITIVE);

  /** Folders that may name libraries. */
  private static final Pattern LIBRARY_FOLDER =
      Pattern.compile("transformers/src/main/java/io/coordl/library/\\w+/.*");

  @Test
  void onlyTheLibrariesFoldersNameLibraries() throws IOException {
    Map<String, Integer> found = new TreeMap<>();
    for (String module : List.of("runtime-cache", "transformers", "agent", "reports")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main"))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          count(file, found);
        }
      }
    }
    assertThat(found).as("files whose constants name a library").isEmpty();
  }

  @Test
  void constantsAreFoundAndCommentsAreNot() {
    String source =
        """
        // "DJL"
        /* "DJL" */ char quote = '"'; // "DJL"
        String text = "no // comment, an \\"escaped\\" quote, and DL4J";
        String none = "neither", other = "org/nd4j/X";
        \"""
        a block "of" SameDiff
        \""";
        """;
    assertThat(constants(source)).isEqualTo(3);
  }

  private static void count(Path file, Map<String, Integer> found) throws IOException {
    String name = ROOT.relativize(file).toString();
    if (LIBRARY_FOLDER.matcher(name).matches()) {
      return;
    }
    String text = Files.readString(file);
    int count =
        name.endsWith(".java")
            ? constants(text)
            : (int) text.lines().filter(line -> NAME.matcher(line).find()).count();
    if (count > 0) {
      found.put(name, count);
    }
  }

  /** Returns the number of string constants in a Java source that name a library. */
  private static int constants(String source) {
    int count = 0;
    int at = 0;
    while (at < source.length()) {
      int end;
      if (source.startsWith("//", at)) {
        end = after(source, "\n", at);
      } else if (source.startsWith("/*", at)) {
        end = after(source, "*/", at + 2);
      } else if (source.startsWith("\"\"\"", at)) {
        end = closing(source, "\"\"\"", at + 3);
        count += NAME.matcher(source.substring(at, end)).find() ? 1 : 0;
      } else if (source.charAt(at) == '"') {
        end = closing(source, "\"", at + 1);
        count += NAME.matcher(source.substring(at, end)).find() ? 1 : 0;
      } else {
        end = source.charAt(at) == '\'' ? closing(source, "'", at + 1) : at + 1;
      }
      at = end;
    }
    return count;
  }

  private static int after(String source, String mark, int from) {
    int found = source.indexOf(mark, from);
    return found < 0 ? source.length() : found + mark.length();
  }

  /** Returns the position after the next {@code mark} that is not escaped. */
  private static int closing(String source, String mark, int from) {
    int at = from;
    while (at < source.length() && !source.startsWith(mark, at)) {
      at += source.charAt(at) == '\\' ? 2 : 1;
    }
    return Math.min(source.length(), at + mark.length());
  }
}
