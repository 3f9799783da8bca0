package io.coordl.harness;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the build has put the things that are measured. Immutable; any thread. */
public final class Checkout {
  private final Path root;

  private Checkout(Path root) {
    this.root = root;
  }

  /**
   * The checkout that holds the current directory, or the one that the system property {@code
   * coordl.root} names.
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

  /** The top directory. */
  public Path root() {
    return root;
  }

  /** A directory for data sets, results and caches, which stays until {@code mvn clean}. */
  public Path work(String name) {
    return root.resolve("target/work").resolve(name);
  }

  /** The agent. */
  public Path agentJar() {
    return built("agent/target/coordl-agent.jar");
  }

  /** The {@code coordl} command. */
  public Path coordlJar() {
    return built("reports/target/coordl.jar");
  }

  /** What starts it. */
  public Path coordl() {
    return built("reports/target/coordl");
  }

  /** The jar of the example in {@code examples/MODULE}. */
  public Path exampleJar(String module) {
    return built("examples/" + module + "/target/example-" + module + "-0.1.0.jar");
  }

  /** The jar of the programs that only tests and benchmarks start. */
  public Path testPrograms() {
    return built("agent/test-programs/target/example-test-programs-0.1.0.jar");
  }

  /** The jar of the programs on libraries that the agent does not know; built with -Pfull only. */
  public Path libraryPrograms() {
    return built("agent/library-programs/target/example-library-programs-0.1.0.jar");
  }

  /** The file with their class path, without their jar. */
  public Path libraryClassPath() {
    return built("agent/library-programs/target/classpath.txt");
  }

  /** The file with the class path of the example in {@code examples/MODULE}, without its jar. */
  public Path exampleClassPath(String module) {
    return built("examples/" + module + "/target/classpath.txt");
  }

  /** The benchmarks' classes. */
  public Path benchmarkClasses() {
    return built("examples/benchmarks/target/classes");
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
