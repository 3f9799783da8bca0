package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.coordl.agent.Child.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import program.Replaced;

/** The packaged agent with a data set on a real FUSE mount, made by bindfs. */
final class FuseMountIT {
  @TempDir Path work;
  private Path source;
  private Path mount;

  static List<Path> jdks() throws IOException {
    return Child.jdks();
  }

  @BeforeEach
  void mount() throws Exception {
    assumeThat(Boolean.getBoolean("coordl.full")).as("runs only with -Pfull").isTrue();
    source = Files.createDirectory(work.resolve("there"));
    mount = Files.createDirectory(work.resolve("mount"));
    // Otherwise the kernel would cache attributes, which is a documented limitation.
    assumeThat(succeeds("bindfs", "-o", "attr_timeout=0,entry_timeout=0", "" + source, "" + mount))
        .as("bindfs is installed and may mount here")
        .isTrue();
  }

  @AfterEach
  void unmount() throws Exception {
    // Which command there is depends on the version of FUSE.
    if (mount != null
        && !succeeds("fusermount3", "-u", "-z", mount.toString())
        && !succeeds("fusermount", "-u", "-z", mount.toString())) {
      succeeds("umount", "-l", mount.toString());
    }
  }

  private static boolean succeeds(String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private Outcome run(Path jdk, String agent, String program, Path... arguments) throws Exception {
    Child job = Child.java(jdk, work);
    if (!agent.isEmpty()) {
      job.agent("record=off,status=off,cache=minio,cache.size=10m,dataset=" + mount + agent);
    }
    String[] given = List.of(arguments).stream().map(Path::toString).toArray(String[]::new);
    Outcome outcome = job.program(program, given).run();
    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertThat(outcome.agentLines()).noneMatch(line -> line.contains("fault"));
    return outcome;
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void filesReplacedThroughTheMountAreReadAgain(Path jdk) throws Exception {
    Replaced.make(mount, 0);
    Outcome plain = run(jdk, "", "program.Replaced", mount);
    for (String scope : List.of("process", "host")) {
      deleteFiles();
      Replaced.make(mount, 0);
      String agent = ",cache.scope=" + scope + ",group=fuse-" + ProcessHandle.current().pid();
      Outcome job = run(jdk, agent, "program.Replaced", mount);
      assertThat(job.out()).isEqualTo(plain.out());
      assertThat(job.agentLines()).anyMatch(line -> line.matches(".* [1-9]\\d* hits,.*"));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void filesReplacedBehindTheMountAreReadAgain(Path jdk) throws Exception {
    Path[] arguments = {mount.resolve("file"), source.resolve("file")};
    Outcome plain = run(jdk, "", "program.ReadBehindMount", arguments);
    deleteFiles();
    Outcome job = run(jdk, ",cache.scope=process", "program.ReadBehindMount", arguments);
    assertThat(job.out()).isEqualTo(plain.out());
    assertThat(job.agentLines()).anyMatch(line -> line.matches(".* [1-9]\\d* hits,.*"));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void excludedFileSystemsAreNotCached(Path jdk) throws Exception {
    Replaced.make(mount, 0);
    Outcome job = run(jdk, ",cache.exclude=fuse", "program.Replaced", mount);
    assertThat(job.agentLines())
        .anyMatch(
            line -> line.matches(".*cache=minio did nothing: no raw item .* 36 .*the program.*"));
  }

  private void deleteFiles() throws IOException {
    try (var files = Files.newDirectoryStream(source)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
  }
}
