package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With damaged files, bad arguments or no free space, a program behaves as without the agent. */
class FailOpenIT {
  private static final int UNTIL_IT_FAILS = 10_000;

  /** Runs the following command with its own {@code /dev/shm} of 2 MiB. */
  private static final List<String> TINY_SHARED_MEMORY =
      List.of(
          "unshare",
          "--mount",
          "/bin/sh",
          "-c",
          "mount -t tmpfs -o size=2m tmpfs /dev/shm && exec \"$@\"",
          "sh");

  /** Damage to a file of the data set. */
  private interface Damage {
    void to(Path file) throws IOException;
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aFileDeletedBetweenEpochsFailsTheJobAsWithoutTheAgent(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    assertFailsAsWithoutTheAgent(framework, jdk, "deleted", Files::delete);
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aFileTruncatedBetweenEpochsFailsTheJobAsWithoutTheAgent(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    assertFailsAsWithoutTheAgent(
        framework,
        jdk,
        "truncated",
        file -> {
          try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(100);
          }
        });
  }

  private static void assertFailsAsWithoutTheAgent(
      Framework framework, Jdk jdk, String what, Damage damage)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty(what + "-" + framework + "-" + jdk.version());
    Pictures pictures = Pictures.all().copyTo(directory.resolve("pictures"), 8);
    Path file = pictures.files().get(17);
    Path whole = Files.copy(file, directory.resolve("whole.jpg"));

    Job plain = handWritten(framework, jdk, directory, "plain", pictures);
    Finished expected = plain.afterEpoch(1, () -> damage.to(file)).run();
    assertThat(expected.result().exit()).isEqualTo(1);
    assertThat(exceptions(expected)).isNotEmpty();

    for (String policy : Workshop.first(1, List.of("cache=minio", "cache=off"))) {
      Files.copy(whole, file, StandardCopyOption.REPLACE_EXISTING);
      Job job = handWritten(framework, jdk, directory, policy, pictures);
      Finished actual =
          job.agent(policy + ",summary=off").afterEpoch(1, () -> damage.to(file)).run();
      assertThat(exceptions(actual)).as(policy).isEqualTo(exceptions(expected));
      assertThat(actual.result().exit()).isEqualTo(1);
      assertThat(actual.agentLines()).isEmpty();
    }
  }

  /** Returns a hand-written loop, because in DL4J's fit a failed prefetch thread blocks the job. */
  private static Job handWritten(
      Framework framework, Jdk jdk, Path directory, String name, Pictures pictures)
      throws IOException {
    return new Job(framework, jdk, directory, name, pictures, UNTIL_IT_FAILS)
        .args("--loop", "hand");
  }

  /** Types and messages of the exceptions that ended the job, outermost first. */
  private static List<String> exceptions(Finished job) {
    return job.result()
        .err()
        .lines()
        .filter(line -> line.matches("Exception in thread .*|\\s*Caused by: .*"))
        .toList();
  }

  /** Arguments that cannot take effect, and the line that the agent prints. */
  private record Fault(String arguments, String reported) {}

  /** Without -Pfull, only some; OptionsTest and ByteBudgetTest cover more sizes. */
  private static List<Fault> faults() {
    return Workshop.first(
        3,
        List.of(
            new Fault("record=/proc/version/job.jfr", "record=.* cannot be written .*"),
            new Fault(
                "cache=minio,cache.size=10k",
                ".* 10240 bytes, below the minimum of 1m .*: nothing is cached\\."),
            new Fault(
                "cache=minio,cache.scope=host,cache.size=100000g,group=e2e-" + UUID.randomUUID(),
                ".* 100000g is more than is free: .*"),
            new Fault("cache=minio,cache.size=0", ".* budget is 0 bytes, .*: nothing is cached\\."),
            new Fault("cache=minio,cache.size=100000g", ".* 100000g is more than is free: .*"),
            new Fault("cache=minio,cache.size=plenty", "cache.size=plenty is not valid.*")));
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void anUnusableArgumentIsReportedInOneLineAndTheJobContinues(Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("faults-" + jdk.version());
    Finished plain = Job.plain(Framework.DL4J, jdk);
    int number = 0;
    for (Fault fault : faults()) {
      Job job = new Job(Framework.DL4J, jdk, directory, "fault" + ++number);
      String arguments = fault.arguments() + ",summary=off";
      Finished finished =
          fault.arguments().startsWith("record=")
              ? job.agentAsGiven(arguments).runWell()
              : job.agent(arguments).runWell();
      assertThat(finished.differenceFrom(plain)).as(fault.arguments()).isEmpty();
      assertThat(reported(finished)).as(fault.arguments()).hasSize(1);
      assertThat(reported(finished)).first().asString().matches(fault.reported());
    }
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void fullSharedMemoryIsReportedInOneLineAndTheJobContinues(Jdk jdk)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(canMount(), "a small /dev/shm cannot be mounted here (needs root)");
    Path directory = Workshop.empty("tiny-" + jdk.version());
    Finished plain = Job.plain(Framework.DL4J, jdk);

    Finished process =
        new Job(Framework.DL4J, jdk, directory, "process")
            .wrapper(TINY_SHARED_MEMORY)
            .agent("summary=off,cache=minio,cache.size=64m")
            .runWell();
    assertThat(process.differenceFrom(plain)).isEmpty();
    assertThat(reported(process))
        .hasSize(1)
        .first()
        .asString()
        .contains("/dev/shm has room for only");
    assertThat(Summary.of(process.recording()).store("items"))
        .isEqualTo(Pictures.all().files().size());

    Finished host =
        new Job(Framework.DL4J, jdk, directory, "host")
            .wrapper(TINY_SHARED_MEMORY)
            .agent("summary=off,cache=minio,cache.scope=host,cache.size=64m")
            .runWell();
    assertThat(host.differenceFrom(plain)).isEmpty();
    assertThat(reported(host)).singleElement().asString().contains("64m is more than is free");
    assertThat(Summary.of(host.recording()).store("usedBytes")).isLessThanOrEqualTo(2 << 20);
    assertThat(Summary.of(host.recording()).store("hits")).isPositive();
  }

  /**
   * JFR would end the JVM when its temporary directory is full, even if the recording is on another
   * disk.
   */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aFullDiskCostsAtMostTheRecording(Jdk jdk) throws IOException, InterruptedException {
    Assumptions.assumeTrue(canMount(), "a small disk cannot be mounted here (needs root)");
    Path directory = Workshop.empty("full-" + jdk.version());
    Finished plain = Job.plain(Framework.DL4J, jdk);

    Path full = Files.createDirectories(directory.resolve("full"));
    Finished temporary =
        new Job(Framework.DL4J, jdk, directory, "temporary")
            .wrapper(withFullDisk(full))
            .jvmArgs("-Djava.io.tmpdir=" + full)
            .agent("")
            .runWell();
    assertThat(temporary.differenceFrom(plain)).isEmpty();
    assertThat(Summary.of(temporary.recording()).total("epochs")).isEqualTo(Job.EPOCHS);

    Finished recording =
        new Job(Framework.DL4J, jdk, directory, "recording")
            .wrapper(withFullDisk(full))
            .agentAsGiven("record=" + full.resolve("job.jfr"))
            .runWell();
    assertThat(recording.differenceFrom(plain)).isEmpty();
    assertThat(recording.agentLines())
        .filteredOn(line -> line.contains("no recording is made"))
        .hasSize(1);
    assertThat(recording.agentLines())
        .filteredOn(line -> line.startsWith("recording: "))
        .singleElement()
        .asString()
        .contains("cannot be written", "No space left on device");
  }

  /** Runs the following command with a full disk of 1 MiB at {@code directory}. */
  private static List<String> withFullDisk(Path directory) {
    return List.of(
        "unshare",
        "--mount",
        "/bin/sh",
        "-c",
        "mount -t tmpfs -o size=1m tmpfs \"$0\" && head -c 2m /dev/zero > \"$0/filled\""
            + " 2>/dev/null; exec \"$@\"",
        directory.toString());
  }

  private static boolean canMount() throws InterruptedException {
    try {
      List<String> command = new ArrayList<>(TINY_SHARED_MEMORY);
      command.add("true");
      return new ProcessBuilder(command).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aBudgetSmallerThanAnyFileCachesAndChangesNothing(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("small-" + framework + "-" + jdk.version());
    Pictures large = Pictures.all().copyTo(directory.resolve("pictures"), 4);
    for (Path file : large.files()) {
      // Decoders stop at the end of the picture.
      Files.write(file, new byte[1 << 20], StandardOpenOption.APPEND);
    }
    int reads = Job.EPOCHS * large.files().size() + framework.readAhead();
    Finished plain = new Job(framework, jdk, directory, "plain", large, Job.EPOCHS).runWell();
    Finished job =
        new Job(framework, jdk, directory, "job", large, Job.EPOCHS)
            .agent("cache=minio,cache.size=1m")
            .runWell();
    assertThat(job.differenceFrom(plain)).isEmpty();
    assertThat(job.agentLines())
        .filteredOn(line -> line.startsWith("raw cache"))
        .singleElement()
        .asString()
        .matches(
            "raw cache \\(process\\): 0 items, .*; 0 hits, %d misses, %d not cached"
                .formatted(reads, reads));
  }

  /**
   * Returns the agent's lines, except those about leftovers of other jobs, which any job may
   * remove.
   */
  private static Stream<String> reported(Finished job) {
    return job.agentLines().stream().filter(line -> !line.startsWith("Removed the store "));
  }
}
