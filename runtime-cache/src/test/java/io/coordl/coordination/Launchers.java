package io.coordl.coordination;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The {@code java} commands with which tests start JVMs: that of the running JVM, and one for each
 * other release in /usr/lib/jvm, 17 or later.
 */
final class Launchers {
  private static final int OLDEST = 17;
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  private Launchers() {}

  /** Commands by release, including the running one. */
  static Map<Integer, Path> all() throws IOException {
    Map<Integer, Path> found = new TreeMap<>();
    if (Files.isDirectory(INSTALLED)) {
      try (DirectoryStream<Path> homes = Files.newDirectoryStream(INSTALLED)) {
        for (Path home : homes) {
          Path java = home.resolve("bin/java");
          int release = release(home.resolve("release"));
          if (release >= OLDEST && Files.isExecutable(java)) {
            found.put(release, java);
          }
        }
      }
    }
    Path running = Path.of(System.getProperty("java.home"), "bin", "java");
    found.put(Runtime.version().feature(), running);
    return found;
  }

  /** Commands of releases other than the running one; prints a line if there are none. */
  static List<Path> others() throws IOException {
    Map<Integer, Path> others = all();
    others.remove(Runtime.version().feature());
    if (others.isEmpty()) {
      System.out.println("no other JDK in " + INSTALLED + ": tests on other JDKs are skipped");
    }
    return List.copyOf(others.values());
  }

  private static int release(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return 0;
    }
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
    return version.isEmpty() ? 0 : Runtime.Version.parse(version).feature();
  }
}
