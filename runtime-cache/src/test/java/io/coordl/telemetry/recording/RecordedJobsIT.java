package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs in separate JVMs, some with limited file sizes: each ends as without the agent. */
class RecordedJobsIT {
  /** Returns a command that limits file sizes, which the free space does not reveal. */
  private static List<String> filesOfAtMost(int kibibytes) {
    return List.of("/bin/sh", "-c", "ulimit -f " + 2 * kibibytes + " && exec \"$@\"", "sh");
  }

  @TempDir Path folder;

  private record Ended(int exit, String out, List<String> err) {
    String recording() {
      return err.stream().filter(line -> line.startsWith("recording: ")).findFirst().orElse("");
    }

    List<String> logged() {
      return err.stream().filter(line -> line.startsWith("[coordl] ")).toList();
    }
  }

  private Ended run(List<String> wrapper, List<String> jvmArgs, Object... args) throws Exception {
    List<String> command = new ArrayList<>(wrapper);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
    command.addAll(jvmArgs);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(RecordedJob.class.getName());
    for (Object arg : args) {
      command.add(arg.toString());
    }
    File out = folder.resolve("out").toFile();
    File err = folder.resolve("err").toFile();
    int exit = new ProcessBuilder(command).redirectOutput(out).redirectError(err).start().waitFor();
    return new Ended(exit, Files.readString(out.toPath()), Files.readAllLines(err.toPath()));
  }

  private static List<RecordedEvent> events(Path recording, String name) throws IOException {
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl." + name))
        .toList();
  }

  @Test
  void aRecordingThatCannotGrowEndsAndTheJobContinues() throws Exception {
    Path recording = folder.resolve("job.jfr");
    Ended job = run(filesOfAtMost(128), List.of(), "own", recording, 10, "paced");

    assertThat(job.exit()).isEqualTo(7);
    assertThat(job.out()).isEqualTo("trained 10 batches\n");
    assertThat(job.logged()).singleElement().asString().contains("the recording ends");
    assertThat(job.recording()).contains("job.jfr, only until ");
    assertThat(events(recording, "Fetch")).isNotEmpty().hasSizeLessThan(200);
    assertThat(Files.size(recording)).isLessThanOrEqualTo(128 << 10);
  }

  @Test
  void aRecordingThatCannotBeWrittenIsLoggedAndLeavesNoFile() throws Exception {
    Path recording = folder.resolve("job.jfr");
    Ended job = run(filesOfAtMost(4), List.of(), "own", recording, 10);

    assertThat(job.exit()).isEqualTo(7);
    assertThat(job.out()).isEqualTo("trained 10 batches\n");
    assertThat(job.logged()).singleElement().asString().contains("no recording is made");
    assertThat(job.recording()).startsWith("recording: none, ").contains("cannot be written");
    assertThat(recording).doesNotExist();
  }

  /** Without a temporary directory, JFR would end the JVM, even if it recorded to memory. */
  @Test
  void noTemporaryDirectoryIsNeeded() throws Exception {
    Path recording = folder.resolve("job.jfr");
    Ended job = run(List.of(), List.of("-Djava.io.tmpdir=/dev/full"), "own", recording, 10);

    assertThat(job.exit()).isEqualTo(7);
    assertThat(job.logged()).isEmpty();
    assertThat(events(recording, "Fetch")).hasSize(200);
  }

  /** The program may have used all direct memory. */
  @Test
  void aProgramWithoutDirectMemoryLeftIsStillRecorded() throws Exception {
    Path recording = folder.resolve("job.jfr");
    List<String> little = List.of("-XX:MaxDirectMemorySize=2m");
    for (int run = 0; run < 2; run++) { // The second run replaces the first recording.
      Ended job = run(List.of(), little, "own", recording, 10, "starved");

      assertThat(job.exit()).isEqualTo(7);
      assertThat(job.logged()).isEmpty();
      assertThat(job.recording()).as("run %s", run).isEqualTo("recording: " + recording);
      assertThat(events(recording, "Fetch")).hasSize(200);
      assertThat(events(recording, "Epoch")).hasSize(1);
    }
  }

  @Test
  void anEpochLeftByBreakIsRecordedAndCounted() throws Exception {
    Path recording = folder.resolve("job.jfr");
    Ended job = run(List.of(), List.of(), "own", recording, 10);

    assertThat(job.exit()).isEqualTo(7);
    assertThat(events(recording, "Epoch"))
        .singleElement()
        .satisfies(
            epoch -> {
              assertThat(epoch.getBoolean("complete")).isFalse();
              assertThat(epoch.getLong("batches")).isEqualTo(10);
              assertThat(epoch.getDuration()).isEqualTo(epoch.getDuration("wall"));
            });
    List<RecordedEvent> totals = events(recording, "JobStatistics");
    assertThat(totals.get(totals.size() - 1).getLong("epochs")).isEqualTo(1);
    assertThat(events(recording, "Step")).hasSize(10);
  }

  @Test
  void anEpochLeftByBreakIsInTheUsersRecordingEvenIfJfrEndsFirst() throws Exception {
    Path recording = folder.resolve("users.jfr");
    Ended job =
        run(
            List.of(),
            List.of("-XX:StartFlightRecording=filename=" + recording),
            "joined",
            recording,
            10);

    assertThat(job.exit()).isZero();
    assertThat(job.recording()).isEqualTo("recording: the recording that was already running");
    assertThat(events(recording, "Epoch"))
        .singleElement()
        .satisfies(epoch -> assertThat(epoch.getLong("batches")).isEqualTo(10));
    List<RecordedEvent> totals = events(recording, "JobStatistics");
    assertThat(totals.get(totals.size() - 1).getLong("epochs")).isEqualTo(1);
  }
}
