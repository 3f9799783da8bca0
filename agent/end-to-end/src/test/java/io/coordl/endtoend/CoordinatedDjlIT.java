package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** With prep=coordinate, DJL jobs prepare each batch once for the group. */
class CoordinatedDjlIT {
  /** Room for three of the example's batches, so no job can be an epoch ahead of the other. */
  private static final String WINDOW = "prep.size=512k";

  private final String group = "e2e-" + UUID.randomUUID();

  static Stream<Arguments> jdksAndThreads(TestInfo test) {
    return Workshop.jdks(test)
        .flatMap(
            jdk ->
                Workshop.first(2, List.of(0, 2, -1)).stream()
                    .map(threads -> Arguments.of(jdk, threads)));
  }

  @ParameterizedTest(name = "{1} threads on {0}")
  @MethodSource("jdksAndThreads")
  void twoJobsPrepareEachBatchOnceAndEachUsesItOnce(Jdk jdk, int threads)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("coordinated-djl-" + threads + "-" + jdk.version());
    Job one = job(jdk, directory, "one").args("--lr", "0.01", "--seed", "3");
    Job two = job(jdk, directory, "two").args("--lr", "0.1", "--seed", "4");
    for (Job job : List.of(one, two)) {
      job.args("--threads", Integer.toString(threads)).agent(coordinated("prep.jobs=2"));
    }
    Finished first;
    Finished second;
    try (Running running = Running.start(one)) {
      second = two.runWell();
      first = running.await();
    }
    first.result().orFail("The first job");

    for (Finished job : List.of(first, second)) {
      assertUsesEachItemOncePerEpoch(job);
      assertThat(Summary.of(job.recording()).faults()).as(job.result().err()).isZero();
    }
    assertThat(fed(second)).isEqualTo(fed(first));
    assertThat(second.batches()).as("their learning rates differ").isNotEqualTo(first.batches());
    long items =
        Summary.of(first.recording()).total("items")
            + Summary.of(second.recording()).total("items");
    assertThat(items).isEqualTo((long) Job.EPOCHS * Pictures.all().files().size());
    assertThat(leftInSharedMemory()).isEmpty();
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aJobWithAnotherBatchSizeKeepsItsOwnPipelineAndReportsWhy(Jdk jdk)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Workshop.FULL,
        "runs only with -Pfull; without it, CoordinatedRecordsIT has jobs that differ");
    Path directory = Workshop.empty("coordinated-djl-other-" + jdk.version());
    Job one = job(jdk, directory, "one").args("--epochs", "12").agent(coordinated(""));
    Job two = job(jdk, directory, "two").args("--batch", "24").agent(coordinated(""));
    Finished first;
    Finished second;
    try (Running running = Running.start(one)) {
      running.awaitEpoch();
      second = two.runWell();
      first = running.await();
    }
    first.result().orFail("The first job");
    assertUsesEachItemOncePerEpoch(second);
    assertThat(Summary.of(second.recording()).total("items"))
        .isEqualTo((long) Job.EPOCHS * Pictures.all().files().size());
    assertThat(second.agentLines()).anyMatch(line -> line.contains("batch size is 24, not 16"));
    assertThat(fed(second)).doesNotContainAnyElementsOf(fed(first));
  }

  static List<String> ways() {
    return Workshop.first(
        4,
        List.of(
            "break",
            "late-backward",
            "switched-off",
            "transform-throws",
            "nested",
            "close",
            "whole",
            "keep",
            "endless",
            "sampler-throws",
            "data-throws"));
  }

  /** The job is alone in its group and has no random transforms. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("ways")
  void aProgramSeesTheSameAsWithoutTheAgent(String way, TestInfo test)
      throws IOException, InterruptedException {
    for (Jdk jdk : Workshop.jdks(test).toList()) {
      for (String threads : Workshop.inTurns(way, List.of("0", "2"))) {
        String plain = customLoops(jdk, way, threads).run().orFail("The plain run").out();
        ChildResult coordinated =
            customLoops(jdk, way, threads)
                .agent(Workshop.checkout().agentJar(), "record=off,summary=off," + coordinated(""))
                .run()
                .orFail("The run with the agent");
        assertThat(plain.lines()).hasSizeGreaterThan(5);
        SameOutput.check(threads + " threads on " + jdk, coordinated, plain);
        assertThat(coordinated.err()).doesNotContain("fault");
        if (way.equals("endless")) {
          assertThat(coordinated.err()).contains("leaves samplers that never end to DJL");
        }
      }
    }
    assertThat(leftInSharedMemory()).isEmpty();
  }

  /** If this fails, arrays do not share the memory of a buffer, and batches need not be copied. */
  @Test
  void arraysOverForeignMemoryShowItsLaterContent() throws IOException, InterruptedException {
    String output =
        program(Workshop.newestJdk(), "example.passes.ForeignMemoryArrays")
            .run()
            .orFail("The program")
            .out();
    assertThat(output.lines()).hasSize(3).allMatch(line -> line.endsWith(": WRONG"));
  }

  private static ChildJvm customLoops(Jdk jdk, String way, String threads) throws IOException {
    return program(jdk, "example.passes.CustomLoops").args(way, threads);
  }

  private static ChildJvm program(Jdk jdk, String mainClass) throws IOException {
    return Workshop.program(jdk, Framework.DJL, mainClass);
  }

  private static Job job(Jdk jdk, Path directory, String name) throws IOException {
    return new Job(Framework.DJL, jdk, directory, name).args("--size", "28");
  }

  private String coordinated(String more) {
    return "prep=coordinate," + WINDOW + ",group=" + group + (more.isEmpty() ? "" : "," + more);
  }

  private static void assertUsesEachItemOncePerEpoch(Finished job) throws IOException {
    int items = Pictures.all().files().size();
    for (int epoch = 1; epoch <= Job.EPOCHS; epoch++) {
      List<Integer> used = new ArrayList<>();
      for (String line : Files.readAllLines(job.log())) {
        if (line.startsWith("items " + epoch + " ")) {
          Stream.of(line.split(" ")).skip(3).map(Integer::valueOf).forEach(used::add);
        }
      }
      assertThat(used)
          .as("epoch " + epoch + " of " + job.log())
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, items).boxed().toList());
    }
  }

  /** Returns the batch of each step: epoch, number, checksums of data and labels. */
  private static List<String> fed(Finished job) throws IOException {
    return job.batches().stream().map(line -> line.substring(0, line.lastIndexOf(' '))).toList();
  }

  private List<Path> leftInSharedMemory() throws IOException {
    return Workshop.inSharedMemory(group);
  }
}
