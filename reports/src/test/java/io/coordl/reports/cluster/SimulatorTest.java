package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulator, mainly where it differs from the released one; times are computed by hand. */
class SimulatorTest {
  @TempDir Path folder;

  private final Cluster oneGpu = new Cluster(1, 1, 3, 62.5, 62.5, 5);

  private static TraceJob job(long id, String model, double arrival, long iterations) {
    return new TraceJob(id, model, arrival, iterations, 1);
  }

  private Map<Long, Double> run(
      Cluster cluster, ModelTable models, Policy policy, double restart, TraceJob... jobs)
      throws InputException {
    Simulator.Settings settings =
        new Simulator.Settings(
            policy, Allocation.TUNE, 300, restart, 0, false, 0, Long.MAX_VALUE - 1);
    return new Simulator(cluster, models, List.of(jobs).iterator(), settings)
        .run().jobs().stream().collect(Collectors.toMap(JobTime::id, JobTime::jctSeconds));
  }

  @Test
  void aJobEndsWithItsLastIteration() throws Exception {
    // 1,000 iterations of 0.757 s; no fraction is lost at the ends of its three rounds.
    assertThat(run(oneGpu, Tables.models(), Policy.FIFO, 0, job(0, "deepspeech", 0, 1000)).get(0L))
        .isEqualTo(757, within(1e-6));
  }

  @Test
  void aJobTrainsAtTheSpeedOfItsResources() throws Exception {
    // Six of the twelve cores that AlexNet can use, on a server with six: 1.75x as fast.
    Cluster sixCores = new Cluster(1, 1, 6, 62.5, 62.5, 5);
    assertThat(run(sixCores, Tables.models(), Policy.FIFO, 0, job(0, "alexnet", 0, 7000)).get(0L))
        .isEqualTo(7000 * 0.6 / 1.75, within(1e-6));
  }

  @Test
  void aStoppedJobLosesTheRestartTime() throws Exception {
    // The shorter job stops the longer one for two rounds: 757 + 600 + the restart.
    TraceJob longer = job(0, "deepspeech", 0, 1000);
    TraceJob shorter = job(1, "deepspeech", 250, 400);
    Map<Long, Double> times = run(oneGpu, Tables.models(), Policy.SRTF, 40, longer, shorter);
    assertThat(times.get(1L)).isEqualTo(50 + 400 * 0.757, within(1e-6));
    assertThat(times.get(0L)).isEqualTo(757 + 600 + 40, within(1e-6));
  }

  @Test
  void jobsThatArriveAfterAnIdleTimeRunToo() throws Exception {
    TraceJob first = job(0, "deepspeech", 0, 10);
    TraceJob late = job(1, "deepspeech", 10_000, 10);
    assertThat(run(oneGpu, Tables.models(), Policy.FIFO, 0, first, late))
        .containsOnlyKeys(0L, 1L)
        .hasEntrySatisfying(1L, time -> assertThat(time).isEqualTo(200 + 7.57, within(1e-6)));
  }

  @Test
  void theJobThatIsWorstOffComesFirst() throws Exception {
    // After the first round, the short job has waited 1.3 times its own length, the long one a
    // hundredth of its own.
    TraceJob busy = job(0, "deepspeech", 0, 4000);
    TraceJob longer = job(1, "deepspeech", 1, 40_000);
    TraceJob shorter = job(2, "deepspeech", 2, 300);
    Map<Long, Double> times = run(oneGpu, Tables.models(), Policy.FTF, 0, busy, longer, shorter);
    assertThat(times.get(2L)).isLessThan(times.get(0L)).isLessThan(times.get(1L));
  }

  /** With 60 of 100 GiB in memory, 40 % comes from storage: 100 MB/s feed 250 of 500 MB/s. */
  @ParameterizedTest(name = "{0} GiB in memory and {1} MB/s: {2}x as fast")
  @CsvSource({"60, 100, 0.5", "60, 200, 1", "80, 100, 1", "100, 1, 1", "20, 100, 0.25"})
  void storageSuppliesItemsThatTheCacheDoesNotHold(double memory, double storage, double speed)
      throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("models.json"),
            """
            {"coreAxis": [1, 2], "memoryAxis": [10],
             "models": [{"name": "m", "task": "image", "coresPerGpu": 2, "memoryGibPerGpu": 100,
               "storageMbsPerGpuUsed": 1, "iterationSeconds": 1, "speedup": 1,
               "datasetGib": 100, "ingestMbsPerGpu": 500, "throughput": [[0.5], [1]]}]}
            """);
    Cluster cluster = new Cluster(1, 1, 2, memory, storage, 5);
    assertThat(run(cluster, ModelTable.read(file), Policy.FIFO, 0, job(0, "m", 0, 1000)).get(0L))
        .isEqualTo(1000 / speed, within(1e-6));
  }

  @Test
  void aDataSetBeyondItsMemoryShareTrainsAtFullSpeedIfStorageKeepsUp() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("models.json"),
            """
            {"coreAxis": [1, 2], "memoryAxis": [10],
             "models": [{"name": "m", "task": "image", "coresPerGpu": 2, "memoryGibPerGpu": 100,
               "storageMbsPerGpuUsed": 1, "iterationSeconds": 1, "speedup": 1,
               "datasetGib": 100, "ingestMbsPerGpu": 50, "throughput": [[0.5], [1]]}]}
            """);
    Cluster cluster = new Cluster(1, 2, 4, 100, 100, 5);
    Map<Long, Double> times =
        run(
            cluster,
            ModelTable.read(file),
            Policy.FIFO,
            0,
            job(0, "m", 0, 1000),
            job(1, "m", 0, 1000));
    assertThat(times.get(0L)).isEqualTo(1000, within(1e-6));
    assertThat(times.get(1L)).isEqualTo(1000, within(1e-6));
  }

  @Test
  void fewMeasuredJobsAreNotMistakenForOverload() throws Exception {
    Workload workload = new Workload(1.5, Workload.parseSplit("image=100"), false);
    Iterator<TraceJob> jobs = workload.jobs(Tables.models(), Cluster.parse(Tables.TESTBED), 1);
    Simulator.Settings settings =
        new Simulator.Settings(Policy.LAS, Allocation.TUNE, 300, 30, 0, true, 0, 0);
    Outcome outcome =
        new Simulator(Cluster.parse(Tables.TESTBED), Tables.models(), jobs, settings).run();
    assertThat(outcome.overloaded()).isFalse();
    assertThat(outcome.jobs()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource(Policy.class)
  void aRunIsTheSameEachTime(Policy policy) throws Exception {
    List<Object> runs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      runs.add(generated(0.7, policy, Allocation.TUNE, 30));
    }
    assertThat(runs.get(0)).isEqualTo(runs.get(1));
  }

  @Test
  void tuneIsFasterThanProportionalAndGreedy() throws Exception {
    double proportional =
        generated(0.7, Policy.FIFO, Allocation.PROPORTIONAL, 0).jct().meanSeconds();
    double tune = generated(0.7, Policy.FIFO, Allocation.TUNE, 0).jct().meanSeconds();
    assertThat(proportional / tune).isGreaterThan(1.1);
    double greedy = generated(0.7, Policy.FIFO, Allocation.GREEDY, 0).jct().meanSeconds();
    assertThat(tune).isLessThan(greedy);
  }

  @Test
  void anOverloadedClusterIsReported() throws Exception {
    SimulationRun run = generated(20, Policy.SRTF, Allocation.TUNE, 0);
    assertThat(run.overloaded()).isTrue();
    assertThat(run.jobs()).hasSizeLessThan(200);
    assertThat(generated(0.7, Policy.SRTF, Allocation.TUNE, 0).overloaded()).isFalse();
  }

  private static SimulationRun generated(
      double load, Policy policy, Allocation allocation, double restart) throws Exception {
    Workload workload =
        new Workload(load, Workload.parseSplit("image=20,language=70,speech=10"), true);
    return new Simulation(
            Cluster.parse(Tables.TESTBED),
            Tables.models(),
            null,
            workload,
            List.of(1L),
            300,
            restart,
            false,
            false,
            new Simulation.Measured(100, 299))
        .run(List.of(policy), List.of(allocation))
        .get(0);
  }
}
