package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A simulation of 10,000 jobs on 1,000 GPUs takes seconds. */
class LargeClusterTest {
  private static final int JOBS = 10_000;

  /** Limit of CPU time, which a busy machine does not change; a run takes one to three seconds. */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** All jobs wait from the start, so no queue can be longer. */
  @ParameterizedTest
  @CsvSource({"LAS,TUNE", "SRTF,GREEDY"})
  void tenThousandJobsTakeSecondsOfCpu(Policy policy, Allocation allocation) throws Exception {
    ModelTable models = Tables.models();
    Random random = new Random(1);
    List<JobModel> drawn = new ArrayList<>();
    List.of("image", "language", "speech").forEach(task -> drawn.addAll(models.forWorkloads(task)));
    List<TraceJob> jobs = new ArrayList<>();
    for (int id = 0; id < JOBS; id++) {
      jobs.add(
          new TraceJob(
              id,
              drawn.get(random.nextInt(drawn.size())).name(),
              0,
              2_000 + random.nextInt(98_000),
              1 << random.nextInt(4)));
    }
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    Outcome outcome =
        new Simulator(
                Cluster.parse("125x8,cores=24,memory=500,storage=500"),
                models,
                jobs.iterator(),
                new Simulator.Settings(
                    policy, allocation, 300, 30, 0, false, 0, Long.MAX_VALUE - 1))
            .run();
    long cpu = threads.getCurrentThreadCpuTime() - before;

    assertThat(outcome.jobs()).hasSize(JOBS);
    assertThat(cpu).as("ns of CPU time").isLessThan(MAX_NANOS);
  }
}
