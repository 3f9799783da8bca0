package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The user or a script starts a recording while the job starts up. In whichever order JFR and the
 * agent's event classes are loaded, the user's and the agent's recordings contain the job's totals,
 * and nothing fails.
 */
class EarlyRecordingIT {
  private static final int EPOCHS = 4;
  private static final int BATCHES = 20;

  /** In the order of the job's start-up. */
  private static final List<String> MOMENTS =
      List.of(
          "premain",
          "io/coordl/agent/install/Activation",
          "io/coordl/telemetry/recording/JobMonitor",
          "io/coordl/telemetry/event/EventBase",
          "io/coordl/telemetry/recording/FlightLog",
          "io/coordl/telemetry/recording/EventFile",
          "io/coordl/telemetry/recording/JfrEvents",
          "io/coordl/telemetry/event/BatchEvent",
          "io/coordl/telemetry/event/Figures",
          "io/coordl/telemetry/event/DataStallEvent",
          "io/coordl/telemetry/event/EpochEvent",
          "io/coordl/telemetry/event/StepEvent",
          "io/coordl/telemetry/attribution/BatchRecord",
          "example/truth/DjlWaits");

  private static final int MILLIS = 1_000;

  @TempDir static Path work;
  private static Path starter;

  @BeforeAll
  static void makeStarter() throws IOException {
    Manifest manifest = new Manifest();
    Attributes entries = manifest.getMainAttributes();
    entries.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    entries.putValue("Premain-Class", "example.recording.StartsRecording");
    starter = work.resolve("starter.jar");
    try (OutputStream out = Files.newOutputStream(starter)) {
      new JarOutputStream(out, manifest).close();
    }
  }

  /** Without -Pfull only half of the moments, each on one JDK. */
  static Stream<Arguments> moments(TestInfo test) {
    List<Jdk> jdks = Workshop.jdksInOrder();
    return IntStream.range(0, MOMENTS.size())
        .filter(moment -> Workshop.FULL || moment % 4 == 0 || moment % 4 == 3)
        .boxed()
        .flatMap(
            moment ->
                (Workshop.FULL ? jdks : List.of(jdks.get(moment % jdks.size())))
                    .stream().map(jdk -> Arguments.of(jdk, MOMENTS.get(moment))));
  }

  @ParameterizedTest(name = "at {1} on {0}")
  @MethodSource("moments")
  void aRecordingStartedAtAnyMomentHasTheJobsTotals(Jdk jdk, String moment) throws Exception {
    assertWholeIfStartedAt(jdk, moment);
  }

  /** Testing all milliseconds takes an hour, so without -Pfull there is only one per JDK. */
  static Stream<Arguments> millis() {
    return Workshop.jdksInOrder().stream()
        .flatMap(
            jdk ->
                IntStream.range(0, MILLIS)
                    .filter(at -> Workshop.FULL || at == MILLIS / 2)
                    .mapToObj(at -> Arguments.of(jdk, at)));
  }

  @ParameterizedTest(name = "{1} ms after the start on {0}")
  @MethodSource("millis")
  void aRecordingStartedAtAnyMillisecondCausesNoFault(Jdk jdk, int at) throws Exception {
    assertWholeIfStartedAt(jdk, Integer.toString(at));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdksInOrder")
  void aRecordingStartedOnTheCommandLineHasTheJobsTotals(Jdk jdk) throws Exception {
    Path own = Files.createTempFile(work, "own", ".jfr");
    Path users = Files.createTempFile(work, "users", ".jfr");
    ChildResult job =
        job(jdk)
            .jvmArgs("-XX:StartFlightRecording=filename=" + users)
            .agent(Workshop.checkout().agentJar(), "record=" + own)
            .run()
            .orFail("job");
    assertWhole(job, own, users);
  }

  private static ChildJvm job(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.truth.DjlWaits")
        .args("hand", "1", "1", Integer.toString(BATCHES), Integer.toString(EPOCHS));
  }

  private static void assertWholeIfStartedAt(Jdk jdk, String moment) throws Exception {
    Path own = Files.createTempFile(work, "own", ".jfr");
    Path users = Files.createTempFile(work, "users", ".jfr");
    ChildResult job =
        job(jdk)
            .agent(starter, moment + "=" + users)
            .jvmArgs("-javaagent:" + Workshop.checkout().agentJar() + "=record=" + own)
            .run()
            .orFail("job whose recording starts at " + moment);
    assertWhole(job, own, users);
  }

  private static void assertWhole(ChildResult job, Path own, Path users) throws IOException {
    assertThat(job.err())
        .doesNotContain("fault", "switched off", "JFR recordings do not get")
        .contains(EPOCHS + " epochs, " + EPOCHS * BATCHES + " batches");
    List<RecordedEvent> events = events(own, job);
    assertThat(named(events, "io.coordl.Epoch")).hasSize(EPOCHS);
    assertThat(named(events, "io.coordl.Batch")).hasSize(EPOCHS * BATCHES);
    if (Files.size(users) > 0) { // Otherwise the job ended before that millisecond.
      events(users, job);
    }
  }

  /** Checks that a recording's totals equal the job's, deletes it, and returns its events. */
  private static List<RecordedEvent> events(Path recording, ChildResult job) throws IOException {
    List<RecordedEvent> events = RecordingFile.readAllEvents(recording);
    List<RecordedEvent> totals = named(events, "io.coordl.JobStatistics");
    assertThat(totals).as(job.err()).isNotEmpty();
    assertThat(totals.get(totals.size() - 1).getLong("epochs")).isEqualTo(EPOCHS);
    assertThat(totals.get(totals.size() - 1).getLong("batches")).isEqualTo(EPOCHS * BATCHES);
    Files.delete(recording);
    return events;
  }

  private static List<RecordedEvent> named(List<RecordedEvent> events, String type) {
    return events.stream().filter(event -> event.getEventType().getName().equals(type)).toList();
  }
}
