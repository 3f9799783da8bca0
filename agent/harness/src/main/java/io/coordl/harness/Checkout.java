package io.coordl.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.StreamSupport;

/** A checkout of this project, with the artifacts of its build. Immutable; any thread. */
public final class Checkout {
  private final Path root;

  private Checkout(Path root) {
    this.root = root;
  }

  /**
   * Returns the checkout that contains the current directory, or the one that the system property
   * {@code coordl.root} names.
   *
   * @throws IllegalStateException if there is none
   */
  public static Checkout find() {
    String named = System.getProperty("coordl.root");
    Path start = Path.of(named == null ? "" : named).toAbsolutePath().normalize();
    for (Path path = start; path != null; path = path.getParent()) {
      if (Files.isRegularFile(path.resolve("agent/harness/pom.xml"))) {
        return new Checkout(path);
      }
    }
    throw new IllegalStateException(
        "No directory from "
            + start
            + " upwards holds agent/harness/pom.xml; "
            + "run inside a checkout, or name it with -Dcoordl.root=DIR.");
  }

  /** Returns the top directory. */
  public Path root() {
    return root;
  }

  /** Returns a directory for data sets, results and caches, kept until {@code mvn clean}. */
  public Path work(String name) {
    return root.resolve("target/work").resolve(name);
  }

  /** Returns the agent's jar. */
  public Path agentJar() {
    return built("agent/target/coordl-agent.jar");
  }

  /** Returns the jar of the {@code coordl} command. */
  public Path coordlJar() {
    return built("reports/target/coordl.jar");
  }

  /** Returns the script that starts the {@code coordl} command. */
  public Path coordl() {
    return built("reports/target/coordl");
  }

  /** Returns the jar of the example in {@code examples/MODULE}. */
  public Path exampleJar(String module) {
    return jar("examples/" + module + "/target", "example-" + module);
  }

  /** Returns the jar of the programs that only tests and benchmarks start. */
  public Path testPrograms() {
    return jar("agent/test-programs/target", "example-test-programs");
  }

  /**
   * Returns the jar of the programs that use libraries unknown to the agent; built only with
   * -Pfull.
   */
  public Path libraryPrograms() {
    return jar("agent/library-programs/target", "example-library-programs");
  }

  /** Returns the file with the class path of {@link #libraryPrograms}, without that jar. */
  public Path libraryClassPath() {
    return built("agent/library-programs/target/classpath.txt");
  }

  /**
   * Returns the file with the class path of the example in {@code examples/MODULE}, without its
   * jar.
   */
  public Path exampleClassPath(String module) {
    return built("examples/" + module + "/target/classpath.txt");
  }

  /** Returns the directory of the benchmarks' classes. */
  public Path benchmarkClasses() {
    return built("examples/benchmarks/target/classes");
  }

  /** Returns the most recently built jar of that name. */
  private Path jar(String relative, String name) {
    try (DirectoryStream<Path> jars =
        Files.newDirectoryStream(built(relative), name + "-[0-9]*[0-9].jar")) {
      return StreamSupport.stream(jars.spliterator(), false)
          .max(Comparator.comparing(jar -> jar.toFile().lastModified()))
          .orElseGet(() -> built(relative + "/" + name + "-VERSION.jar"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path built(String relative) {
    Path file = root.resolve(relative);
    if (!Files.exists(file)) {
      throw new IllegalStateException(
          "The file "
              + file
              + " is missing; build it first: mvn -ntp -DskipTests package (in "
              + root
              + ").");
    }
    return file;
  }
}
