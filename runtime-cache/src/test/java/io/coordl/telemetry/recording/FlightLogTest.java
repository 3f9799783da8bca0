package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightLogTest {
  /** Offset of a chunk's state, which is 0 once the chunk is finished. */
  private static final int STATE = 64;

  private static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);

  @TempDir Path folder;

  private final JobMonitor job =
      new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
  private final AtomicLong now = new AtomicLong();

  private Path file() {
    return folder.resolve("job.jfr");
  }

  private List<String> recorded() throws IOException {
    return RecordingFile.readAllEvents(file()).stream()
        .map(event -> event.getEventType().getName())
        .toList();
  }

  @Test
  void aRecorderWithoutMemoryForTheTotalsContinues() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    CountDownLatch readAgain = new CountDownLatch(2);
    job.addStore(
        () -> {
          readAgain.countDown();
          if (reads.incrementAndGet() == 1) {
            throw new OutOfMemoryError("expected");
          }
          return new StoreStatisticsEvent();
        },
        () -> {});
    FlightLog flight = new FlightLog(job.figures(), () -> {}, () -> now.getAndAdd(TEN_SECONDS));
    flight.start(file().toString(), true);
    readAgain.await();
    flight.finish();

    assertThat(flight.where()).isEqualTo(file().toString());
    assertThat(recorded()).contains("io.coordl.JobStatistics", "io.coordl.StoreStatistics");
  }

  /** Advice on a recording needs both, to name only what works with the job's libraries. */
  @Test
  void theAgentsFileRecordsLibrariesAndVerdicts() throws Exception {
    LibraryEvent library = new LibraryEvent();
    library.name = "DJL";
    job.figures().saw(library);
    job.figures().verdict("prepared=share", "my.Data", false, "my.Data.count may change", "");
    FlightLog flight = new FlightLog(job.figures(), () -> {});
    flight.start(file().toString(), true);
    flight.finish();
    assertThat(recorded()).contains("io.coordl.Library", "io.coordl.Verdict");
  }

  /** In {@code /proc}, for example, no file can be created. */
  @Test
  void aDirectoryThatTakesNoFileIsNotReportedAsMissing() {
    assertThat(FlightLog.reason(new NoSuchFileException(file().toString())))
        .isEqualTo("no file can be created in that directory");
    assertThat(FlightLog.reason(new NoSuchFileException(folder.resolve("no/job.jfr").toString())))
        .isEqualTo("there is no such directory");
  }

  /** Like containers that share a directory, where each job is process 1. */
  @Test
  void jobsWithTheSameProcessIdHaveSeparateRecordings() throws Exception {
    String target = folder.resolve("coordl-%p.jfr").toString();
    String name = "coordl-" + ProcessHandle.current().pid();
    for (String own : List.of(".jfr", "-2.jfr", "-3.jfr")) {
      FlightLog flight = new FlightLog(job.figures(), () -> {});
      flight.start(target, true);
      flight.finish();
      assertThat(flight.where()).isEqualTo(folder.resolve(name + own).toString());
    }
    for (String own : List.of(".jfr", "-2.jfr", "-3.jfr")) {
      assertThat(RecordingFile.readAllEvents(folder.resolve(name + own))).isNotEmpty();
    }
  }

  @Test
  void aRecordingIsReplacedUnlessAnotherJobIsWritingIt() throws Exception {
    FlightLog running = new FlightLog(job.figures(), () -> {});
    running.start(file().toString(), true);
    while (!Files.exists(file()) || Files.size(file()) == 0) {
      assertThat(String.valueOf(running.where())).doesNotStartWith("none");
      Thread.onSpinWait(); // The recorder locks the new file before it writes.
    }
    FlightLog beside = new FlightLog(job.figures(), () -> {});
    beside.start(file().toString(), true);
    beside.finish();
    running.finish();
    assertThat(running.where()).isEqualTo(file().toString());
    assertThat(beside.where()).isEqualTo(folder.resolve("job-2.jfr").toString());

    FlightLog later = new FlightLog(job.figures(), () -> {});
    later.start(file().toString(), true);
    later.finish();
    assertThat(later.where()).isEqualTo(file().toString());
  }

  @Test
  void aRecordingIsFinishedEvenWithoutItsLastTotals() throws Exception {
    job.addStore(
        () -> {
          throw new OutOfMemoryError("expected");
        },
        () -> {});
    FlightLog flight = new FlightLog(job.figures(), () -> {});
    flight.start(file().toString(), true);
    flight.finish();

    assertThat(recorded()).contains("jdk.JVMInformation");
    assertThat(Files.readAllBytes(file())[STATE]).isZero();
  }
}
