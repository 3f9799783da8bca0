package io.coordl.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInfo;

/** A program in its own JVM, on one of this machine's JDKs, with or without the agent. */
final class Child {
  /** The packaged agent. */
  static final Path AGENT = Path.of("target", "coordl-agent.jar").toAbsolutePath();

  static final Path PROGRAMS = Path.of("target", "test-classes").toAbsolutePath();
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  /** Whether to run on all JDKs, with their default compiler and collector. */
  static final boolean FULL = Boolean.getBoolean("coordl.full");

  /** For programs that run about a second: start-up time dominates. */
  private static final String[] FAST_START = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};

  static final long LIMIT_SECONDS = 600;

  /** Exit code and output; {@code err} without the JVM's line about JAVA_TOOL_OPTIONS. */
  record Outcome(int exit, String out, String err) {
    /** Returns the agent's lines. */
    List<String> agentLines() {
      return err.lines().filter(line -> line.startsWith("[coordl]")).toList();
    }
  }

  private final List<String> command = new ArrayList<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private Path directory;

  private Child(Path launcher, Path directory) {
    command.add(launcher.toString());
    this.directory = directory;
  }

  /**
   * Returns each JDK 17 or newer below /usr/lib/jvm, and the one that runs this test, without
   * duplicates.
   */
  static List<Path> jdks() throws IOException {
    List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
    if (Files.isDirectory(INSTALLED)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(INSTALLED)) {
        entries.forEach(homes::add);
      }
    }
    Map<Path, Integer> found = new TreeMap<>();
    for (Path home : homes) {
      Path release = home.resolve("release");
      if (Files.isRegularFile(release) && Files.isExecutable(home.resolve("bin/javac"))) {
        Files.readString(release)
            .lines()
            .filter(line -> line.startsWith("JAVA_VERSION="))
            .map(line -> Runtime.Version.parse(line.replaceAll(".*=\"|\".*", "")).feature())
            .filter(feature -> feature >= 17)
            .findFirst()
            .ifPresent(feature -> found.put(real(home), feature));
      }
    }
    return List.copyOf(found.keySet());
  }

  /** Returns all JDKs with -Pfull, else one, chosen by the test's name. */
  static List<Path> jdks(TestInfo test) throws IOException {
    List<Path> all = jdks();
    int name = test.getTestMethod().orElseThrow().getName().hashCode();
    return FULL ? all : List.of(all.get(Math.floorMod(name, all.size())));
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path;
    }
  }

  /** Returns a {@code java} command in {@code directory}. */
  static Child java(Path jdk, Path directory) {
    // Newer JDKs would warn about an agent that is attached at run time.
    return tool(jdk, "java", directory)
        .with("-Xmx256m", "-XX:+EnableDynamicAgentLoading")
        .with(FULL ? new String[0] : FAST_START);
  }

  /** Returns a tool of the JDK. */
  static Child tool(Path jdk, String name, Path directory) {
    return new Child(jdk.resolve("bin").resolve(name), directory);
  }

  /** Adds arguments, in order. */
  Child with(String... more) {
    command.addAll(Arrays.asList(more));
    return this;
  }

  /** Attaches the packaged agent. */
  Child agent(String arguments) {
    return agent(AGENT, arguments);
  }

  /** Attaches an agent. */
  Child agent(Path jar, String arguments) {
    return with("-javaagent:" + jar + (arguments.isEmpty() ? "" : "=" + arguments));
  }

  /** Adds the program {@link program.Reads} over {@code data}. */
  Child reads(Path data, String... options) {
    return program("program.Reads", data.toString()).with(options);
  }

  /** Adds a program of package {@code program}. */
  Child program(String mainClass, String... arguments) {
    return with("-cp", PROGRAMS.toString(), mainClass).with(arguments);
  }

  Child environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  Child in(Path other) {
    directory = other;
    return this;
  }

  /** Starts the program; its standard error goes to {@code err}. */
  Process start(Path err) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    for (String inherited : List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "COORDL_OPTS")) {
      builder.environment().remove(inherited);
    }
    builder.environment().putAll(environment);
    return builder.redirectError(err.toFile()).start();
  }

  /** Runs the program to its end. */
  Outcome run() throws IOException, InterruptedException {
    Path err = Files.createTempFile("child", ".err");
    try {
      Process process = start(err);
      process.getOutputStream().close();
      return end(process, err);
    } finally {
      Files.delete(err);
    }
  }

  /** Waits for the end of a started process and returns its output. */
  static Outcome end(Process process, Path err) throws IOException, InterruptedException {
    CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS)
        .execute(process::destroyForcibly);
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    try (Stream<String> lines = Files.lines(err)) {
      String own =
          lines
              .filter(line -> !line.startsWith("Picked up JAVA_TOOL_OPTIONS"))
              .reduce("", (text, line) -> text + line + "\n");
      return new Outcome(process.exitValue(), out, own);
    }
  }
}
