package io.coordl.reports.summary;

import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.JobStatisticsEvent;
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
    // Several training threads.
    assertThat(lines(50 * SECOND)).noneMatch(line -> line.contains("between epochs"));
  }
}
