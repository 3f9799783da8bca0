package io.coordl.harness;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/** The JDKs of this machine. Stateless; any thread. */
public final class Jdks {
  /** The oldest release that the agent supports. */
  public static final int OLDEST = 17;

  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  private Jdks() {}

  /**
   * Returns every JDK of release {@link #OLDEST} or newer: those below /usr/lib/jvm, {@code
   * JAVA_HOME} and the running one. Follows links, and returns each JDK once, oldest first.
   */
  public static List<Jdk> all() {
    List<Path> candidates = new ArrayList<>();
    candidates.add(Path.of(System.getProperty("java.home")));
    String javaHome = System.getenv("JAVA_HOME");
    if (javaHome != null && !javaHome.isBlank()) {
      candidates.add(Path.of(javaHome));
    }
    if (Files.isDirectory(INSTALLED)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(INSTALLED)) {
        entries.forEach(candidates::add);
      } catch (IOException e) {
        throw new UncheckedIOException("Cannot list " + INSTALLED, e);
      }
    }
    Map<Path, Jdk> found = new TreeMap<>();
    for (Path candidate : candidates) {
      at(candidate).filter(jdk -> jdk.feature() >= OLDEST).ifPresent(j -> found.put(j.home(), j));
    }
    return found.values().stream().sorted(Comparator.comparingInt(Jdk::feature)).toList();
  }

  /** Returns the JDK that runs this program. */
  public static Jdk running() {
    Path home = Path.of(System.getProperty("java.home"));
    return new Jdk(home, Runtime.version().feature(), Runtime.version().toString());
  }

  /** Returns the JDK in {@code home}; empty if there is none, or its version is unknown. */
  static Optional<Jdk> at(Path home) {
    Path release = home.resolve("release");
    if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isRegularFile(release)) {
      return Optional.empty();
    }
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(release)) {
      properties.load(reader);
      String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
      return Optional.of(
          new Jdk(home.toRealPath(), Runtime.Version.parse(version).feature(), version));
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
