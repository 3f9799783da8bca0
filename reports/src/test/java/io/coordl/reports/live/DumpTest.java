package io.coordl.reports.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.Summary;
import io.coordl.reports.summary.SummaryText;
import io.coordl.telemetry.live.StatusFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordingFile;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The test's own JVM is the job, so recordings have its process id and start time. */
class DumpTest {
  private static final long SECOND = Recordings.SECOND;

  /** Offset of the state in a chunk. */
  private static final int STATE = 64;

  /** Larger than any process id. */
  private static final long NOBODY = 99_999_999;

  private static final ProcessHandle SELF = ProcessHandle.current();

  @TempDir Path folder;

  private void writeStatus(ProcessHandle process, Runnable events) throws IOException {
    Path file =
        StatusFile.of(
                folder, process.pid(), process.info().startInstant().orElseThrow().toEpochMilli())
            .path();
    Recordings.record(file, events);
  }

  private Path dump() throws Exception {
    Path file = folder.resolve("dump.jfr");
    Dump.of(folder, SELF.pid()).writeTo(file);
    return file;
  }

  private static void refused(ThrowingCallable dump, String sentence) {
    assertThatThrownBy(dump).hasMessage(sentence);
  }

  /** Returns the agent's file of a running job: one epoch in an unfinished chunk. */
  private Path live() throws IOException {
    Path file =
        Recordings.record(
            folder.resolve("job.jfr"),
            () -> {
              Recordings.emitEpoch(1, 70 * SECOND, 40 * SECOND);
              Recordings.emitTotalsSoFar(1, 100, 70 * SECOND, 40 * SECOND);
            });
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {3}), STATE);
      channel.write(ByteBuffer.wrap(new byte[100]), channel.size()); // Part of the next flush.
    }
    return file;
  }

  @Test
  void aDumpIsAFinishedRecordingWithTheLatestTotals() throws Exception {
    Path file = live();
    writeStatus(
        SELF,
        () -> {
          Recordings.emitRecording(file);
          Recordings.emitTotalsSoFar(2, 150, 85 * SECOND, 40 * SECOND);
        });

    Path dump = dump();

    JobRecording recording = RecordingReader.read(dump, done -> {});
    assertThat(recording.epochs()).hasSize(1);
    assertThat(recording.job()).isNotNull();
    assertThat(recording.job().batches).isEqualTo(150);
    assertThat(RecordingFile.readAllEvents(dump)).hasSizeGreaterThan(4);
    Summary summary = Summary.of(recording);
    assertThat(summary.recording().stillRunning()).isTrue();
    assertThat(summary.totals().leftEarly()).as("its second epoch is still running").isZero();
    assertThat(SummaryText.lines(summary).get(0)).endsWith(" (so far: its JVM is still running)");
  }

  @Test
  void aStoppedJobIsDumpedWithoutItsHelp() throws Exception {
    Path file = live();
    Process sleep = new ProcessBuilder("sleep", "600").start();
    try {
      new ProcessBuilder("kill", "-STOP", Long.toString(sleep.pid())).start().waitFor();
      writeStatus(sleep.toHandle(), () -> Recordings.emitRecording(file));
      Path status = StatusFile.all(folder).get(0).path();
      Files.setLastModifiedTime(status, FileTime.from(Instant.now().minusSeconds(20)));

      Dump dump = Dump.of(folder, sleep.pid());
      assertThat(dump.job().state()).isEqualTo(Jobs.State.stopped);
      dump.writeTo(folder.resolve("stopped.jfr"));
      assertThat(folder.resolve("stopped.jfr")).isNotEmptyFile();

      Recordings.record(status, () -> Recordings.emitRecording(null));
      Files.setLastModifiedTime(status, FileTime.from(Instant.now().minusSeconds(20)));
      refused(
          () -> Dump.of(folder, sleep.pid()).writeTo(folder.resolve("none.jfr")),
          "job "
              + sleep.pid()
              + " is stopped, and only its JVM can write what JFR recorded: resume it with"
              + " `kill -CONT "
              + sleep.pid()
              + "`.");
    } finally {
      sleep.destroyForcibly().waitFor();
    }
  }

  @Test
  void aJobRecordedOnlyByJfrIsDumpedByJcmd() throws Exception {
    writeStatus(SELF, () -> Recordings.emitRecording(null));
    try (Recording recording = Recordings.start()) {
      Recordings.emitEpoch(1, 70 * SECOND, 40 * SECOND);
      Path file = folder.resolve("a dump.jfr");

      Dump.of(folder, null).writeTo(file);

      assertThat(recording.getState()).as("it still records").isEqualTo(RecordingState.RUNNING);
      assertThat(RecordingReader.read(file, done -> {}).epochs()).hasSize(1);
    }
    assertThatThrownBy(this::dump)
        .hasMessageStartingWith("the JVM of job " + SELF.pid() + " wrote no recording: ")
        .hasMessageContaining("JFR.start");
  }

  @Test
  void impossibleDumpsGetOneSentence() throws Exception {
    refused(() -> Dump.of(folder, null), "no job of this user runs here.");
    refused(() -> Dump.of(folder, NOBODY), "there is no process " + NOBODY + " here.");
    refused(
        this::dump,
        "process "
            + SELF.pid()
            + " shows no job: it runs without the agent, or with status=off, or has just started.");

    Path missing = folder.resolve("missing.jfr");
    writeStatus(SELF, () -> Recordings.emitRecording(missing));
    refused(
        this::dump,
        "job "
            + SELF.pid()
            + " records to "
            + missing
            + ", which does not exist: it was removed, or the job runs in its own container.");

    writeStatus(SELF, () -> Recordings.emitConfiguration("record", "off"));
    refused(
        this::dump,
        "job " + SELF.pid() + " was started with record=off: there is nothing to dump.");

    Recordings.record(
        StatusFile.of(folder, SELF.pid(), 1).path(), () -> Recordings.emitRecording(missing));
    refused(
        () -> Dump.of(folder, null),
        "2 jobs run (" + SELF.pid() + ", " + SELF.pid() + "): name the process to dump.");
  }

  @Test
  void theProcessOfAnotherUserIsReportedAsSuch() {
    ProcessHandle init = ProcessHandle.of(1).orElseThrow();
    if (init.info().user().equals(SELF.info().user())) {
      return; // As in a container, where all processes are root's.
    }
    refused(
        () -> Dump.of(folder, 1L),
        "process 1 is not this user's: only " + init.info().user().orElseThrow() + " may dump it.");
  }
}
