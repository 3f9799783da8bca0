package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The agent prepares randomly cropped pictures without changing any bit or random draw. */
class AugmentedIT {
  private static final Pattern PREPARED =
      Pattern.compile("the agent cropped and resized ([\\d,]+) batches of pictures");

  /**
   * The agent prepares more batches than this. It leaves the others to the program, because many
   * pipelines contain the program's own code, and some batches fail or mix picture sizes.
   */
  private static final int MIN_BATCHES = 70;

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyBatchAndDrawIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    Path folder = Workshop.empty("augmented-" + jdk.version());
    ChildResult plain = crops(jdk, folder).run().orFail("Without the agent");
    assertThat(plain.out().lines()).hasSizeGreaterThan(200);
    for (String policy :
        Workshop.first(
            3,
            List.of(
                "decoded=share",
                "prepared=share,prefetch=3",
                "decoded=share,prefetch=3",
                "prefetch=2",
                "auto=on"))) {
      ChildResult job =
          crops(jdk, folder)
              .agent(Workshop.checkout().agentJar(), "record=off," + policy)
              .run()
              .orFail(policy);
      SameOutput.check(policy, job, plain.out());
      assertThat(job.err()).doesNotContain("fault");
      if (!policy.startsWith("auto")) {
        assertThat(preparedPictures(job))
            .as(policy + ": batches that the agent made")
            .isGreaterThan(MIN_BATCHES);
      }
    }
  }

  /** With ATEN_CPU_CAPABILITY=default, the engine's kernels round differently from the agent. */
  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void anEngineWithOtherKernelsPreparesItsOwnBatches(Jdk jdk)
      throws IOException, InterruptedException {
    Path folder = Workshop.empty("augmented-kernel-" + jdk.version());
    ChildResult job =
        crops(jdk, folder)
            .environment("ATEN_CPU_CAPABILITY", "default")
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share")
            .run()
            .orFail("Another kernel");
    ChildResult plain =
        crops(jdk, folder)
            .environment("ATEN_CPU_CAPABILITY", "default")
            .run()
            .orFail("Without the agent");
    SameOutput.check(job, plain);
    assertThat(preparedPictures(job)).isZero();
  }

  /** A custom reader may draw random numbers, count, or wait for a lock that the loop holds. */
  @Test
  void aCustomReaderDecodesOnTheProgramsThread() throws IOException, InterruptedException {
    ChildJvm program =
        Workshop.program(Jdks.running(), Framework.DJL, "example.augment.OwnReader")
            .args(Pictures.all().directory().toString());
    ChildResult plain = program.run().orFail("Without the agent");
    ChildResult job =
        Workshop.program(Jdks.running(), Framework.DJL, "example.augment.OwnReader")
            .args(Pictures.all().directory().toString())
            .agent(Workshop.checkout().agentJar(), "record=off,prefetch=3")
            .run()
            .orFail("A reader that draws");
    SameOutput.check(job, plain);
    assertThat(preparedPictures(job)).isZero();
  }

  /** Batch events belong to the executor's threads, not to the training thread. */
  @Test
  void aBatchIsTimedOnTheThreadThatPreparesIt() throws IOException, InterruptedException {
    Path recording = Workshop.empty("augmented-threads").resolve("job.jfr");
    ChildResult job =
        Workshop.program(Jdks.running(), Framework.DJL, "example.loader.DjlLoader")
            .args(Pictures.all().directory().toString(), "2", "2")
            .agent(Workshop.checkout().agentJar(), "decoded=share,record=" + recording)
            .run()
            .orFail("A loader with an executor");
    assertThat(preparedPictures(job)).isPositive();
    List<String> preparingThreads =
        RecordingFile.readAllEvents(recording).stream()
            .filter(event -> event.getEventType().getName().equals("io.coordl.Batch"))
            .map(event -> event.getThread("eventThread").getJavaName())
            .toList();
    assertThat(preparingThreads).isNotEmpty().allMatch(name -> name.startsWith("pool-"));
  }

  /**
   * Threads that load and compute samples start no OpenMP teams, which leaves the cores to the
   * program's threads and to each other. The thread that runs the program's own code keeps its
   * number of OpenMP threads, because sums over a different number of threads have different bits.
   */
  @Test
  void threadsThatPrepareSamplesStartNoTeams() throws IOException, InterruptedException {
    ChildResult job =
        Workshop.program(Jdks.running(), Framework.DJL, "example.augment.NativeThreads")
            .environment("OMP_NUM_THREADS", "3")
            .args(Pictures.all().directory().toString())
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share,prefetch=4")
            .run()
            .orFail("A loader with teams");
    assertThat(preparedPictures(job)).isPositive();
    assertThat(job.out())
        .containsPattern("beside java: [2-9]") // The program itself has a team.
        .contains("beside coordl-samples-: 0", "beside coordl-items-1: 0")
        .doesNotContainPattern("beside coordl-(samples|items)[^:]*: [1-9]");
  }

  private static ChildJvm crops(Jdk jdk, Path folder) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.augment.Crops").args(folder.toString());
  }

  private static int preparedPictures(ChildResult job) {
    Matcher matcher = PREPARED.matcher(job.err());
    return matcher.find() ? Integer.parseInt(matcher.group(1).replace(",", "")) : 0;
  }
}
