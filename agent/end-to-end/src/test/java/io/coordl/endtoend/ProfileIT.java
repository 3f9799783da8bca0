package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import io.coordl.harness.KnownRates;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The packaged agent profiles unmodified programs. Tests what a profile contains, not speeds. */
class ProfileIT {
  static Stream<KnownRates> programs() {
    List<KnownRates> all = KnownRates.all();
    // Without -Pfull only DJL with a thread pool; the command's test covers DL4J. The programs are
    // short, because only the structure matters here.
    return (Workshop.FULL ? all : all.subList(1, 2))
        .stream()
            .map(
                program ->
                    new KnownRates(
                        program.name(),
                        program.mainClass(),
                        program.module(),
                        List.of("1", "2", "1")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("programs")
  void everyPhaseIsMeasuredInOrderAndTheRunSucceeds(KnownRates program)
      throws IOException, InterruptedException {
    // The program fails if any batch is incomplete.
    KnownRates.Profile profile =
        program.measure(
            Workshop.checkout(),
            Workshop.newestJdk(),
            Workshop.directory("profile"),
            "profile.steps=20");

    List<RecordedEvent> phases = events(profile.recording(), "io.coordl.Phase");
    int workers = (int) phases.get(0).getLong("workers");
    List<String> expected = new ArrayList<>(List.of("cold 0", "cached 0", "ingestion 0"));
    expected.replaceAll(phase -> phase.replace("0", Integer.toString(workers)));
    expected.add("prep " + workers);
    for (int fewer = workers - 1; fewer > 0; fewer--) {
      expected.add("prep " + fewer);
    }
    expected.add("fetch " + Math.max(1, workers));
    if (workers > 1) {
      expected.add("fetch 1");
    }
    assertThat(phases)
        .extracting(phase -> phase.getString("phase") + " " + phase.getLong("workers"))
        .containsExactlyElementsOf(expected);
    assertThat(workers).isEqualTo(workersOf(program));
    for (RecordedEvent phase : phases) {
      assertThat(phase.getLong("samples")).as(phase.getString("phase")).isPositive();
      assertThat(phase.getDouble("sampleNanos")).isPositive();
    }
    assertItemsMatchThePhase(phases);
    RecordedEvent host = events(profile.recording(), "io.coordl.Host").get(0);
    assertThat(host.getLong("storageRate")).isPositive();
    assertThat(host.getLong("memoryRate")).isPositive();
    assertThat(host.getLong("cores")).isPositive();
    assertThat(host.getLong("datasetItems")).isEqualTo(240);
    assertThat(host.getString("storageAccess"))
        .isEqualTo("as the program reads them: another file system");
    assertThat(profile.err()).contains("profile: the last phase is over; the run ends here");
    assertThat(profile.err()).doesNotContain("fault in");
  }

  private static int workersOf(KnownRates program) {
    return switch (program.name()) {
      case "serial" -> 0;
      case "prefetched" -> 1;
      default -> 2;
    };
  }

  private static void assertItemsMatchThePhase(List<RecordedEvent> phases) {
    for (RecordedEvent phase : phases) {
      long memory = phase.getLong("memoryBytes");
      long storage = phase.getLong("storageBytes");
      switch (phase.getString("phase")) {
        case "cold", "fetch" -> {
          assertThat(storage).isPositive();
          assertThat(memory).isZero();
        }
        case "cached", "prep" -> {
          assertThat(storage).isZero();
          assertThat(memory).isPositive();
        }
        default -> {
          assertThat(storage).isZero();
          assertThat(memory).isZero();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Framework.class)
  void aProgramThatEndsTooEarlyIsReported(Framework framework)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("profile-early-" + framework);
    ChildResult result =
        new Job(framework, Workshop.newestJdk(), directory, "early")
            .agent("profile=all,cache=minio")
            .run()
            .result();

    assertThat(result.err())
        .contains("cache=minio is off: profile=all measures the job without policies")
        .contains("profile: the program ended before the profile did");
    assertThat(events(directory.resolve("early.jfr"), "io.coordl.Phase"))
        .extracting(phase -> phase.getString("note"))
        .anyMatch(note -> note.startsWith("the program ended before the profile did, in: "));
  }

  static Stream<Framework> examples() {
    return Workshop.first(1, List.of(Framework.DL4J, Framework.DJL)).stream();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void oneCommandRunsAnExampleAndReportsWhereItsTimeGoes(Framework framework)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("profile-command-" + framework);
    Path recording = directory.resolve("whole.jfr");
    ChildResult result =
        new Job(framework, Workshop.newestJdk(), directory, "whole", Pictures.all(), 100_000)
            .wrapper(profile(recording))
            .runWell()
            .result();

    assertThat(result.err()).contains("profile: the last phase is over").doesNotContain("fault in");
    assertThat(result.out())
        .contains("CoorDL differential profile of " + recording)
        .containsPattern("(?m)^  ingestion +\\d")
        .containsPattern("(?m)^  cached +\\d")
        .containsPattern("(?m)^  cold +\\d")
        // The second result occurs on a busy machine.
        .containsPattern(
            "(?m)^Limit       (the largest part is|unknown; rerun on an idle machine)");
    // For DJL the original picture is cached, for DL4J the resized array; one byte per value.
    long pixels = framework == Framework.DJL ? 480 * 400 * 3 : 48 * 48 * 3;
    assertThat(events(recording, "io.coordl.Host").get(0).getLong("decodedItemBytes"))
        .isBetween(pixels, pixels + 64);
  }

  /** Two instances measure at the same time; the speed of this machine does not matter. */
  @ParameterizedTest
  @MethodSource("examples")
  void acceleratorsAreEmulatedConcurrently(Framework framework)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("profile-accelerator-" + framework);
    ChildResult result =
        new Job(framework, Workshop.newestJdk(), directory, "fed", Pictures.all(), 100_000)
            // Long steps, so that data is not the bottleneck and two accelerators are tried, too.
            .wrapper(profile("--accelerator", "300", "--up-to", "2"))
            .runWell()
            .result();

    assertThat(result.out())
        .contains("CoorDL emulated accelerator: steps of 300 ms, batches of 16 samples")
        .containsPattern("(?m)^ +1 +\\d+\\.\\d %")
        .containsPattern("(?m)^This host (feeds|does not feed) ");
    if (result.out().contains("feeds 2 such accelerators")) {
      assertThat(result.out()).containsPattern("(?m)^ +2 +9\\d\\.\\d %");
    }
    assertThat(result.err()).contains("coordl: 1 emulated accelerator:");
  }

  private static List<String> profile(Path recording) {
    return profile("-o", recording.toString());
  }

  /** Returns {@code coordl profile} as a command prefix; the command need not be {@code java}. */
  private static List<String> profile(String... options) {
    List<String> words = new ArrayList<>(command());
    words.addAll(List.of(options));
    words.add("--");
    return words;
  }

  private static List<String> command() {
    return List.of(
        Jdks.running().java().toString(),
        "-XX:TieredStopAtLevel=1",
        "-jar",
        Workshop.checkout().coordlJar().toString(),
        "profile",
        "--agent",
        Workshop.checkout().agentJar().toString(),
        "--steps",
        "10");
  }

  @Test
  void anUnknownPhaseIsReportedAndTheJobContinues() throws IOException, InterruptedException {
    Path directory = Workshop.empty("profile-unknown");
    Job.Finished job =
        new Job(Framework.DJL, Workshop.newestJdk(), directory, "unknown")
            .agent("profile=warm")
            .runWell();

    assertThat(job.agentLines())
        .contains(
            "profile=warm is not valid: expected off, ingestion, cached, cold, all; all policies"
                + " are off, and the agent only observes");
  }

  /** Sorted by time, because a recording does not order events of different threads. */
  private static List<RecordedEvent> events(Path recording, String type) throws IOException {
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().equals(type))
        .sorted(Comparator.comparing(RecordedEvent::getEndTime))
        .toList();
  }
}
