package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The advice of a summary holds: the next run can follow it, and it never goes in circles. */
class AdviceIT {
  /** Maximum number of runs; each but the first follows the advice of the one before it. */
  private static final int ROUNDS = 3;

  /** The purity proof runs on its own thread, so a job may end before the proof does. */
  private static final int ATTEMPTS = 3;

  private static Finished run(Framework framework, String name, String arguments)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("advice-" + framework + "-" + name);
    return new Job(framework, Workshop.newestJdk(), directory, name).agent(arguments).runWell();
  }

  private static List<RecordedEvent> verdicts(Finished job) throws IOException {
    return RecordingFile.readAllEvents(job.recording()).stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl.Verdict"))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(Framework.class)
  void aJobWithoutPoliciesRecordsThatPreparedShareIsAllowed(Framework framework)
      throws IOException, InterruptedException {
    List<RecordedEvent> verdicts = List.of();
    for (int attempt = 0; attempt < ATTEMPTS && verdicts.isEmpty(); attempt++) {
      verdicts = verdicts(run(framework, "observed", ""));
    }
    assertThat(verdicts)
        .isNotEmpty()
        .allSatisfy(verdict -> assertThat(verdict.getBoolean("allowed")).isTrue());
    assertThat(verdicts.stream().map(verdict -> verdict.getString("policy")))
        .hasSameElementsAs(
            framework == Framework.DJL
                ? List.of("prepared=share", "prefetch")
                : List.of("prepared=share"));
  }

  @ParameterizedTest
  @EnumSource(Framework.class)
  void followingTheAdviceNeverGoesInCircles(Framework framework)
      throws IOException, InterruptedException {
    List<List<String>> tried = new ArrayList<>(List.of(List.of()));
    for (int round = 0; round < ROUNDS; round++) {
      List<String> now = tried.get(tried.size() - 1);
      Finished job = run(framework, "round-" + round, String.join(",", now));
      List<String> next =
          Summary.of(job.recording()).next().stream()
              .filter(argument -> !argument.startsWith("record="))
              .toList();
      assertThat(next).doesNotContain("prep=coordinate");
      if (next.isEmpty()) {
        return;
      }
      assertThat(tried).doesNotContain(next);
      tried.add(next);
    }
  }
}
