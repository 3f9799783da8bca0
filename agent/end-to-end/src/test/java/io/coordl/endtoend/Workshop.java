package io.coordl.endtoend;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.provider.Arguments;

/** Directories, JDKs and programs that all tests share. Any thread. */
final class Workshop {
  private static final Checkout CHECKOUT = Checkout.find();
  private static final List<Jdk> JDKS = Jdks.all();
  private static final Map<String, Path> SHARED = new ConcurrentHashMap<>();

  /** Whether to run all cases, on all JDKs, instead of some. */
  static final boolean FULL = Boolean.getBoolean("coordl.full");

  /** Time-out for events that must happen even on a busy machine. */
  static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Time-out for whole jobs. */
  static final Duration MAX_DURATION = Duration.ofMinutes(60);

  static {
    JDKS.forEach(jdk -> System.out.println("end-to-end tests run on " + jdk));
  }

  private Workshop() {}

  /** Returns the checkout whose build is tested. */
  static Checkout checkout() {
    return CHECKOUT;
  }

  /** Returns the newest JDK, for tests that need only one. */
  static Jdk newestJdk() {
    return JDKS.get(JDKS.size() - 1);
  }

  /** Returns the JDKs of this machine, oldest first. */
  static List<Jdk> jdksInOrder() {
    return JDKS;
  }

  /** Returns a directory of this module's build that is kept from run to run. */
  static Path directory(String name) {
    try {
      return Files.createDirectories(
          CHECKOUT.root().resolve("agent/end-to-end/target/jobs").resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** JVM arguments that shorten jobs of a few seconds; -Pfull keeps the default collector. */
  static String[] fast() {
    return FULL
        ? new String[] {"-XX:TieredStopAtLevel=1"}
        : new String[] {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};
  }

  /** Returns a test program with a library, one engine thread, and no agent yet. */
  static ChildJvm program(Jdk jdk, Framework framework, String mainClass) throws IOException {
    ChildJvm program =
        new ChildJvm(jdk, mainClass)
            .classPath(CHECKOUT.testPrograms())
            .classPathFile(CHECKOUT.exampleClassPath(framework.module()))
            .jvmArgs(fast())
            .jvmArgs(
                "-Djava.awt.headless=true",
                SameOutput.keepsBytes(),
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + CHECKOUT.work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
            .environment("OMP_NUM_THREADS", "1");
    return jdk.feature() >= 24 ? program.jvmArgs("--enable-native-access=ALL-UNNAMED") : program;
  }

  /** Returns the files and folders in shared memory whose paths contain {@code name}. */
  static List<Path> inSharedMemory(String name) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/dev/shm"))) {
      for (Path file : all) {
        String[] within = file.toFile().list(); // Null for a file, or if it is gone.
        Stream.concat(
                Stream.of(file),
                Stream.of(within == null ? new String[0] : within).map(file::resolve))
            .filter(path -> path.toString().contains(name))
            .forEach(found::add);
      }
    }
    return found;
  }

  /** Returns an empty directory, kept after the test to explain failures. */
  static Path empty(String name) throws IOException {
    Path directory = directory(name);
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
    return Files.createDirectories(directory);
  }

  /** Returns a directory that tests share; empty at the first call. */
  static Path shared(String name) {
    return SHARED.computeIfAbsent(
        name,
        own -> {
          try {
            return empty(own);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** Returns every framework on every JDK with -Pfull; otherwise each on one JDK. */
  static Stream<Arguments> frameworksAndJdks(TestInfo test) {
    return Stream.of(Framework.values())
        .flatMap(
            framework ->
                inTurns(test, framework == Framework.DJL ? 0 : 1)
                    .map(jdk -> Arguments.of(framework, jdk)));
  }

  /**
   * As {@link #frameworksAndJdks}, but without -Pfull only one framework, chosen by the test's
   * name; for behaviour that does not depend on the framework.
   */
  static Stream<Arguments> oneFrameworkAndJdks(TestInfo test) {
    List<Arguments> all = frameworksAndJdks(test).toList();
    int name = test.getTestMethod().orElseThrow().getName().hashCode() >> 1;
    return FULL ? all.stream() : Stream.of(all.get(Math.floorMod(name, all.size())));
  }

  /** Returns all with -Pfull, else the first {@code part}; put the most significant first. */
  static <T> List<T> first(int part, List<T> all) {
    return FULL ? all : all.subList(0, part);
  }

  /** Returns every JDK with -Pfull, else one of them. */
  static Stream<Jdk> jdks(TestInfo test) {
    return inTurns(test, 0);
  }

  /** Without -Pfull, the test's name selects the JDK, so that each gets a share of the tests. */
  private static Stream<Jdk> inTurns(TestInfo test, int turn) {
    if (FULL) {
      return JDKS.stream();
    }
    int name = test.getTestMethod().orElseThrow().getName().hashCode();
    return Stream.of(JDKS.get(Math.floorMod(name + turn, JDKS.size())));
  }

  /** Returns all with -Pfull, else one, selected by {@code name}. */
  static <T> List<T> inTurns(String name, List<T> all) {
    return FULL ? all : List.of(all.get(Math.floorMod(name.hashCode(), all.size())));
  }
}
