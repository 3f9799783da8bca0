package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuSampleEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import org.junit.jupiter.api.Test;

/** Totals over the samples of a device. */
class GpuTimeTest {
  private static final long SECOND = 1_000_000_000;

  private static Figures job(long batches, long stall) {
    Figures job = new JobStatisticsEvent();
    job.batches = batches;
    job.stall = stall;
    return job;
  }

  private static GpuSampleEvent sample(double utilization) {
    GpuSampleEvent sample = new GpuSampleEvent();
    sample.utilization = utilization;
    return sample;
  }

  @Test
  void stallsBeforeTheFirstSampleDoNotExplainLaterIdleTime() {
    GpuTime time = new GpuTime("fake", job(1, 10 * SECOND), 5 * SECOND);
    time.add(
        sample(0.25), SECOND, job(1, 10 * SECOND), job(2, 10 * SECOND + 200), 5 * SECOND + 300);
    GpuStatisticsEvent view = time.view();
    assertThat(view.idle()).isEqualTo(SECOND * 3 / 4);
    assertThat(view.idleInStalls).isEqualTo(200);
    assertThat(view.synchronizedSteps).isEqualTo(300);
  }

  @Test
  void samplesCountOnceABatchFollowsThem() {
    GpuTime time = new GpuTime("fake", job(1, 0), 0);
    time.add(sample(0), SECOND, job(1, 0), job(1, 0), 0);
    assertThat(time.view().samples).isZero();
    time.add(sample(1), SECOND, job(1, 0), job(2, 3 * SECOND), 0);
    assertThat(time.view().samples).isEqualTo(2);
    assertThat(time.view().idleInStalls).as("at most the idle time").isEqualTo(SECOND);
    time.add(sample(0), SECOND, job(2, 3 * SECOND), job(2, 3 * SECOND), 0);
    assertThat(time.view().sampled).as("after the last batch").isEqualTo(2 * SECOND);
  }
}
