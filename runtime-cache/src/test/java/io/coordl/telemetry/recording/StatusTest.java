package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.live.StatusFile;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusTest {
  @TempDir Path folder;

  private final AgentLog log = new AgentLog();
  private final JobMonitor job =
      new JobMonitor(
          List.of(new Setting("cache", "minio", "argument")), "main", log, new RewriteLog());

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private StatusFile shown() throws Exception {
    long end = System.nanoTime() + Waits.LONG.toNanos();
    while (StatusFile.all(folder).isEmpty()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(10);
    }
    return StatusFile.all(folder).get(0);
  }

  private static List<String> names(List<RecordedEvent> events) {
    return events.stream().map(event -> event.getEventType().getName()).sorted().toList();
  }

  @Test
  void theStatusFileExistsUntilTheJobEnds() throws Exception {
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.items = 7;
    job.addStore(() -> store, () -> {});
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.TAKE, this), new Object());
    try (Status status = new Status(job.figures(), () -> folder)) {
      status.start();
      StatusFile file = shown();
      Path copy = Files.copy(file.path(), folder.resolve("copy.jfr"));

      assertThat(file.pid()).isEqualTo(ProcessHandle.current().pid());
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
          .isEqualTo("rw-------");
      List<RecordedEvent> events = RecordingFile.readAllEvents(copy);
      assertThat(names(events))
          .contains("jdk.JVMInformation", "io.coordl.Configuration")
          .contains("io.coordl.JobStatistics", "io.coordl.StoreStatistics");
      assertThat(events.stream().filter(event -> event.hasField("value")))
          .singleElement()
          .satisfies(event -> assertThat(event.getString("value")).isEqualTo("minio"));
      Files.delete(copy);
    }
    assertThat(files()).isEmpty();
  }

  private List<RecordedEvent> events(Path file, String name) throws IOException {
    Path copy = Files.copy(file, folder.resolve("copy.jfr"));
    try {
      return RecordingFile.readAllEvents(copy).stream()
          .filter(event -> event.getEventType().getName().equals("io.coordl." + name))
          .toList();
    } finally {
      Files.delete(copy);
    }
  }

  private static boolean isRunning(List<RecordedEvent> totals) {
    return totals.get(totals.size() - 1).getBoolean("running");
  }

  @Test
  void theStatusShowsTheRecordingAndThatTheJobRuns() throws Exception {
    Path recording = folder.resolve("own.jfr");
    try (Status status = new Status(job.figures(), () -> folder)) {
      status.start();
      assertThat(events(shown().path(), "Environment"))
          .singleElement()
          .satisfies(event -> assertThat(event.getString("recording")).isNull());

      job.startRecording(recording.toString(), true);

      long end = System.nanoTime() + Waits.LONG.toNanos();
      while (!recording
          .toString()
          .equals(events(shown().path(), "Environment").get(0).getString("recording"))) {
        assertThat(System.nanoTime()).isLessThan(end);
        Thread.sleep(10);
      }
      assertThat(isRunning(events(shown().path(), "JobStatistics"))).isTrue();
    } finally {
      job.finish();
    }
    assertThat(isRunning(events(recording, "JobStatistics"))).isFalse();
  }

  @Test
  void aRemovedStatusFileReturnsWithTwoSnapshots() throws Exception {
    try (Status status = new Status(job.figures(), () -> folder)) {
      status.start();
      Files.delete(shown().path());
      Path copy = Files.copy(shown().path(), folder.resolve("copy.jfr"));

      assertThat(names(RecordingFile.readAllEvents(copy)))
          .filteredOn("io.coordl.JobStatistics"::equals)
          .hasSize(2);
      Files.delete(copy);
    }
  }

  @Test
  void anUnwritableStatusFileIsLoggedAndTheJobContinues() throws Exception {
    Path missing = folder.resolve("missing");
    Status status = new Status(job.figures(), () -> missing);
    status.start();
    status.close();

    assertThat(log.messageAbout("coordl"))
        .startsWith("top does not show this job: its status file ")
        .endsWith("cannot be written (no file can be created in that directory)");
  }

  @Test
  void anExceptionInTheStatusThreadIsReportedAsAFaultOfThatThread() throws Exception {
    BlockingQueue<String> faults = new LinkedBlockingQueue<>();
    Bridge.install(
        SpanSink.NONE,
        ItemSource.NONE,
        (where, cause, tripped) -> faults.add(where + ": " + cause));
    Status status =
        new Status(
            job.figures(),
            () -> {
              throw new NullPointerException("no directory");
            });
    try {
      status.start();
      assertThat(faults.poll(Waits.LONG.toMillis(), TimeUnit.MILLISECONDS))
          .startsWith("coordl-status: ")
          .endsWith("no directory");
    } finally {
      status.close();
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void aFailedWriteIsRetried() throws Exception {
    long start = ManagementFactory.getRuntimeMXBean().getStartTime();
    StatusFile file = StatusFile.of(folder, ProcessHandle.current().pid(), start);
    Path inTheWay = Files.createDirectories(file.unfinished().resolve("directory"));
    try (Status status = new Status(job.figures(), () -> folder)) {
      status.start();
      long end = System.nanoTime() + Waits.LONG.toNanos();
      while (log.messageAbout("coordl").isEmpty()) {
        assertThat(System.nanoTime()).isLessThan(end);
        Thread.sleep(10);
      }
      Files.delete(inTheWay);
      Files.deleteIfExists(inTheWay.getParent());
      assertThat(shown()).isEqualTo(file);
    }
  }

  @Test
  void aForeignFileInTheWayIsNotWritten() throws Exception {
    long start = ManagementFactory.getRuntimeMXBean().getStartTime();
    Path file = StatusFile.of(folder, ProcessHandle.current().pid(), start).path();
    Path planted = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), "theirs");
    Path readable = Files.createLink(folder.resolve("readable"), planted);

    try (Status status = new Status(job.figures(), () -> folder)) {
      status.start();
      long end = System.nanoTime() + Waits.LONG.toNanos();
      while (log.messageAbout("coordl").isEmpty() && StatusFile.all(folder).isEmpty()) {
        assertThat(System.nanoTime()).isLessThan(end);
        Thread.sleep(10);
      }
    }
    assertThat(readable).hasContent("theirs");
  }

  @Test
  void onlyOldStatusFilesOfThisUserAreRemoved() throws Exception {
    Path old = Files.createFile(StatusFile.of(folder, 12, 34).path());
    Path young = Files.createFile(StatusFile.of(folder, 13, 34).path());
    Path unfinished = Files.createFile(StatusFile.of(folder, 15, 34).unfinished());
    Path other = Files.createFile(folder.resolve("coordl-somebody-12-34.status"));
    Path target = Files.createFile(folder.resolve("target"));
    Path link = Files.createSymbolicLink(StatusFile.of(folder, 14, 34).path(), target);
    FileTime before = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    for (Path path : List.of(old, unfinished, other, target)) {
      Files.setLastModifiedTime(path, before);
    }

    StatusFile.sweep(folder);

    assertThat(files()).containsExactlyInAnyOrder(young, other, target, link);
    assertThat(StatusFile.all(folder).stream().map(StatusFile::pid).collect(Collectors.toList()))
        .containsExactly(13L);
  }
}
