package io.coordl.reports.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.live.Jobs.Job;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.EventJson;
import io.coordl.reports.summary.Summary;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.live.StatusFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JobsTest {
  @TempDir Path folder;

  /** Creates the status file of a job that last wrote {@code seconds} ago. */
  private void job(ProcessHandle process, long seconds) throws IOException {
    job(process.pid(), process.info().startInstant().orElseThrow(), seconds);
  }

  private void job(long pid, Instant start, long seconds) throws IOException {
    Path file = StatusFile.of(folder, pid, start.toEpochMilli()).path();
    Recordings.record(
        file,
        () -> {
          Recordings.emitConfiguration("group", "search");
          Recordings.emitJob();
        });
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(seconds)));
  }

  private Job only() throws Exception {
    List<Job> jobs = Jobs.in(folder, job -> true).jobs();
    assertThat(jobs).hasSize(1);
    return jobs.get(0);
  }

  @Test
  void aJobThatHasJustWrittenIsRunning() throws Exception {
    job(ProcessHandle.current(), 0);
    assertThat(only().state()).isEqualTo(Jobs.State.running);
    assertThat(only().group()).isEqualTo("search");
  }

  @Test
  void anOversizedFileIsNotRead() throws Exception {
    job(ProcessHandle.current(), 0);
    Path large = StatusFile.of(folder, 1, 1).path();
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength(1L << 40); // Sparse.
    }

    Jobs jobs = Jobs.in(folder, job -> true);

    assertThat(jobs.jobs()).hasSize(1);
    assertThat(jobs.unreadable())
        .containsExactly(large + " is larger than any job's status, so it is not read.");
  }

  @Test
  void aJobThatHasNotWrittenRecentlyIsSilentStoppedOrKilled() throws Exception {
    job(ProcessHandle.current(), 20);
    assertThat(only().state()).isEqualTo(Jobs.State.silent);
    assertThat(Duration.ofNanos(only().silentNanos())).isGreaterThan(Duration.ofSeconds(19));

    Files.delete(StatusFile.all(folder).get(0).path());
    Process sleep = new ProcessBuilder("sleep", "600").start();
    try {
      new ProcessBuilder("kill", "-STOP", Long.toString(sleep.pid())).start().waitFor();
      job(sleep.toHandle(), 20);
      assertThat(only().state()).isEqualTo(Jobs.State.stopped);
    } finally {
      sleep.destroyForcibly().waitFor();
    }
    assertThat(only().state()).isEqualTo(Jobs.State.killed);
  }

  @Test
  void aProcessWithAnotherStartTimeIsAnotherProcess() throws Exception {
    job(ProcessHandle.current().pid(), Instant.now().minus(Duration.ofDays(1)), 20);
    assertThat(only().state()).isEqualTo(Jobs.State.killed);
  }

  @Test
  void killedJobsComeLast() throws Exception {
    job(ProcessHandle.current().pid(), Instant.now().minus(Duration.ofDays(1)), 20);
    job(ProcessHandle.current(), 0);

    assertThat(Jobs.in(folder, job -> true).jobs())
        .extracting(Job::state)
        .containsExactly(Jobs.State.running, Jobs.State.killed);
  }

  /** Killed jobs stay listed for an hour or more: many trials must not hide the running job. */
  @Test
  void killedJobsHideNoRunningOne() throws Exception {
    for (int i = 5; i > 0; i--) {
      job(i, Instant.ofEpochSecond(i), 100L * i);
    }
    job(ProcessHandle.current(), 0);

    Jobs jobs = Jobs.in(folder, job -> true);
    List<String> lines = JobsText.lines(jobs, LocalTime.NOON, 0);

    assertThat(jobs.jobs()).extracting(Job::pid).endsWith(1L, 2L, 3L, 4L, 5L);
    assertThat(lines).filteredOn(line -> line.contains(" killed ")).hasSize(3);
    assertThat(lines).last().isEqualTo("not shown: 2 more killed, see --json");
    int running =
        lines.indexOf(
            lines.stream().filter(line -> line.contains(" running ")).findFirst().orElseThrow());
    int killed =
        lines.indexOf(
            lines.stream().filter(line -> line.contains(" killed ")).findFirst().orElseThrow());
    assertThat(lines.subList(running, killed)).anyMatch(line -> line.contains("Store "));
    assertThat(lines.subList(killed, lines.size())).noneMatch(line -> line.contains("Store "));
  }

  @Test
  void recentFiguresAreTheGrowthOfTheTotals() throws Exception {
    job(ProcessHandle.current(), 0);

    JobRecording.Recent recent = only().recent();
    assertThat(recent).isNotNull();
    assertThat(recent.figures().batches).isEqualTo(200); // 300 in all, 100 of the first epoch.
    assertThat(recent.figures().wall).isEqualTo(60 * Recordings.SECOND);
    assertThat(recent.figures().stall).isEqualTo(8 * Recordings.SECOND);
    assertThat(recent.samplesPerSecond())
        .isEqualTo(recent.figures().samples * 1e9 / recent.nanos());
    assertThat(only().summary().totals().figures().batches).isEqualTo(300);
  }

  private void writeTotals(JobStatisticsEvent... totals) throws IOException {
    ProcessHandle process = ProcessHandle.current();
    Instant start = process.info().startInstant().orElseThrow();
    Path file = StatusFile.of(folder, process.pid(), start.toEpochMilli()).path();
    Recordings.record(file, () -> List.of(totals).forEach(JobStatisticsEvent::commit));
  }

  private static JobStatisticsEvent totals(long batches, long seconds) {
    JobStatisticsEvent totals = new JobStatisticsEvent();
    totals.running = true;
    totals.batches = batches;
    totals.wall = seconds * Recordings.SECOND;
    return totals;
  }

  @Test
  void keptItemsUsedRecentlyCountAsFromMemory() throws Exception {
    JobStatisticsEvent before = totals(10, 10);
    JobStatisticsEvent now = totals(20, 20);
    before.keptItems = 100;
    now.keptItems = 130;
    now.items = 10;
    writeTotals(before, now);
    assertThat(JobsText.lines(Jobs.in(folder, job -> true), LocalTime.NOON, 0).get(2))
        .contains("   75.0 ");
  }

  /** By now, the causes of the wait that was open before are known. */
  @Test
  void onlyTheRecentPartOfAnOpenWaitCounts() throws Exception {
    JobStatisticsEvent before = totals(10, 10);
    before.addOpenWait(3 * Recordings.SECOND);
    before.openWait = 3 * Recordings.SECOND;
    JobStatisticsEvent now = totals(11, 16);
    now.prepStall = 4 * Recordings.SECOND;
    now.stall = now.prepStall;
    now.addOpenWait(Recordings.SECOND / 1_000_000);
    now.openWait = Recordings.SECOND / 1_000_000;
    writeTotals(before, now);

    JobStatisticsEvent recent = only().recent().figures();
    assertThat(recent.queueStall).isBetween(0L, Recordings.SECOND / 1_000_000);
    assertThat(recent.prepStall).isEqualTo(4 * Recordings.SECOND);
    assertThat(recent.stall).isEqualTo(recent.prepStall + recent.queueStall);
    assertThat(recent.wall).isEqualTo(6 * Recordings.SECOND + recent.queueStall);
  }

  @Test
  void theTextHasALineForEachJobAndPolicy() throws Exception {
    job(ProcessHandle.current(), 20);

    List<String> lines = JobsText.lines(Jobs.in(folder, job -> true), LocalTime.of(12, 34, 56), 0);

    assertThat(lines.get(0))
        .isEqualTo(
            "1 job of this user at 12:34:56; shares in % of the last 10 s; stores, groups and GPUs"
                + " since the start");
    assertThat(lines.get(1)).contains("PID", "samples/s", "stall", "fetch", "queueing", "program");
    assertThat(lines.get(2))
        .startsWith(String.format("%7d silent ", ProcessHandle.current().pid()))
        .contains("  13.3   3.3 ") // 8 s and 2 s of the 60 s that count as recent.
        .endsWith("  3  my.Train --epochs 3");
    assertThat(lines.get(3)).matches(" {8}no update for 2\\d s");
    assertThat(lines.get(4)).startsWith("        Store       raw, process: ");
    assertThat(lines.get(5))
        .startsWith("        Prep group  ")
        .contains("wait mostly for job 4711");
  }

  @Test
  void onlyARunningJobShowsItsTimeToGo() throws Exception {
    ProcessHandle process = ProcessHandle.current();
    long start = process.info().startInstant().orElseThrow().toEpochMilli();
    Path file = StatusFile.of(folder, process.pid(), start).path();
    Recordings.record(
        file,
        () -> Recordings.emitTotalsSoFar(2, 150, 85 * Recordings.SECOND, 40 * Recordings.SECOND));

    assertThat(JobsText.lines(Jobs.in(folder, job -> true), LocalTime.NOON, 0))
        .contains("        epoch 2 of 9, about 1 min 0 s to go");

    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(20)));
    assertThat(JobsText.lines(Jobs.in(folder, job -> true), LocalTime.NOON, 0))
        .noneMatch(line -> line.contains("to go"));
  }

  @Test
  void onANarrowTerminalTheProgramHasItsOwnLine() throws Exception {
    job(ProcessHandle.current(), 0);
    Jobs jobs = Jobs.in(folder, job -> true);

    List<String> lines = JobsText.lines(jobs, LocalTime.NOON, 80);

    assertThat(lines.get(1)).hasSize(78).endsWith(" epochs");
    assertThat(lines.get(2)).hasSizeLessThanOrEqualTo(80).endsWith("      3");
    assertThat(lines.get(3)).isEqualTo("        my.Train --epochs 3");
    assertThat(JobsText.lines(jobs, LocalTime.NOON, 99).get(2)).endsWith("  my.Train --epochs 3");
  }

  @Test
  void anInvalidFileHidesNoJob() throws Exception {
    job(ProcessHandle.current(), 0);
    Path empty = Files.createFile(StatusFile.of(folder, 12, 34).path());
    Path garbage = Files.writeString(StatusFile.of(folder, 13, 34).path(), "no recording");

    Jobs jobs = Jobs.in(folder, job -> true);

    assertThat(jobs.jobs()).hasSize(1);
    assertThat(jobs.unreadable())
        .hasSize(2)
        .anyMatch(reason -> reason.startsWith(empty + " is empty"))
        .anyMatch(reason -> reason.startsWith(garbage + " is not a Flight Recorder recording"));
    assertThat(JobsText.lines(jobs, LocalTime.NOON, 0))
        .filteredOn(line -> line.startsWith("not shown: " + folder))
        .hasSize(2);
    assertThat(
            JobsText.lines(
                new Jobs(1, jobs.jobs(), List.of("a", "b", "c", "d")), LocalTime.NOON, 0))
        .endsWith("not shown: a", "not shown: b", "not shown: 2 more, see --json");
  }

  @Test
  void withoutJobsThereIsOnlyTheTitle() throws Exception {
    assertThat(JobsText.lines(Jobs.in(folder, job -> true), LocalTime.NOON, 0))
        .containsExactly(
            "0 jobs of this user at 12:00:00; shares in % of the last 10 s; stores, groups and GPUs"
                + " since the start");
  }

  @Test
  void theJsonMatchesItsSchemas() throws Exception {
    job(ProcessHandle.current(), 0);
    JsonMapper mapper = EventJson.mapper().build();

    String json = mapper.writeValueAsString(Jobs.in(folder, job -> true));

    assertThat(schema(Jobs.class, "top").validate(json, InputFormat.JSON)).isEmpty();
    JsonNode summary = mapper.readTree(json).get("jobs").get(0).get("summary");
    assertThat(schema(Summary.class, "summary").validate(summary.toString(), InputFormat.JSON))
        .isEmpty();
  }

  private static Schema schema(Class<?> beside, String name) {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(beside.getResourceAsStream(name + ".schema.json"));
  }
}
