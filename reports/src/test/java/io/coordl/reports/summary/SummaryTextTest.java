package io.coordl.reports.summary;

import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.OpenWaitEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTextTest {
  private static List<String> lines(long wall) throws Exception {
    return SummaryText.lines(
        Summary.of(
            Recordings.read(
                () -> {
                  JobStatisticsEvent job = new JobStatisticsEvent();
                  job.wall = wall;
                  job.batches = 100;
                  job.compute = 60 * SECOND;
                  job.stall = 10 * SECOND;
                  job.prepStall = 10 * SECOND;
                  job.checkpoint = 5 * SECOND;
                  job.commit();
                })));
  }

  @Test
  void waitsForACoreAreShownInsideComputeAndStalls() throws Exception {
    List<String> lines =
        SummaryText.lines(
            Summary.of(
                Recordings.read(
                    () -> {
                      JobStatisticsEvent job = new JobStatisticsEvent();
                      job.wall = 80 * SECOND;
                      job.batches = 100;
                      job.compute = 60 * SECOND;
                      job.computeCoreWait = 20 * SECOND;
                      job.prepCoreWait = 7 * SECOND;
                      job.commit();
                    })));
    assertThat(lines)
        .anyMatch(line -> line.matches("  compute .*75.0 %  of it waiting for a core 20.00 s"))
        .anyMatch(line -> line.matches("  data stall .*preparing threads waited .* 7.00 s"));
    assertThat(lines(80 * SECOND)).noneMatch(line -> line.contains("for a core"));
  }

  @Test
  void thePartsAddUpToTheWallTime() throws Exception {
    assertThat(lines(80 * SECOND)).contains("  between epochs               5.00      6.3 %");
    assertThat(lines(75 * SECOND)).noneMatch(line -> line.contains("between epochs"));
    // With several training threads, the parts may exceed the wall time.
    assertThat(lines(50 * SECOND)).noneMatch(line -> line.contains("between epochs"));
  }

  private static List<String> waiting(long openWait) throws Exception {
    return SummaryText.lines(
        Summary.of(
            Recordings.read(
                () -> {
                  JobStatisticsEvent job = new JobStatisticsEvent();
                  job.wall = 80 * SECOND;
                  job.batches = 100;
                  job.compute = 40 * SECOND;
                  job.stall = 40 * SECOND;
                  job.queueStall = 40 * SECOND;
                  job.openWait = openWait;
                  job.longestWait = 2 * SECOND;
                  job.commit();
                  OpenWaitEvent wait = new OpenWaitEvent();
                  wait.thread = "main";
                  wait.waited = 20 * SECOND;
                  wait.longest = 2 * SECOND;
                  wait.file = "broken.jpg";
                  wait.reader = "loader";
                  wait.commit();
                })));
  }

  @Test
  void aBatchThatNeverCameIsNamed() throws Exception {
    assertThat(waiting(30 * SECOND))
        .anyMatch(
            line ->
                line.startsWith(
                    "Open wait   thread main waited 30.00 s for a batch that never came, far longer"
                        + " than ever before (2.00 s); last file opened: broken.jpg, by thread"
                        + " loader;"))
        .anyMatch(line -> line.startsWith("Try next    find out what the loader waited for"));
    assertThat(waiting(0)).as("it came").noneMatch(line -> line.startsWith("Open wait"));
  }
}
