package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Workloads have the documented distributions. */
class WorkloadTest {
  private static final int MANY = 100_000;

  private static List<TraceJob> jobs(double load, String split, boolean multiGpu) throws Exception {
    Iterator<TraceJob> jobs =
        new Workload(load, Workload.parseSplit(split), multiGpu)
            .jobs(Tables.models(), Cluster.parse(Tables.TESTBED), 42);
    List<TraceJob> list = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      list.add(jobs.next());
    }
    return list;
  }

  @Test
  void arrivalsAreAPoissonProcessInWholeSeconds() throws Exception {
    List<TraceJob> jobs = jobs(8, "image=20,language=70,speech=10", false);
    assertThat(jobs).allMatch(job -> job.arrival() == Math.rint(job.arrival()));
    double gap = jobs.get(MANY - 1).arrival() / MANY;
    // Rounding up adds half a second; the tolerance is three standard errors.
    assertThat(gap).isEqualTo(450.5, within(450 * 3 / Math.sqrt(MANY)));
  }

  @Test
  void durationsFollowThePhillyDistribution() throws Exception {
    ModelTable models = Tables.models();
    double[] minutes =
        jobs(8, "image=20,language=70,speech=10", false).stream()
            .mapToDouble(
                job -> job.iterations() * models.named(job.model()).iterationSeconds() / 60)
            .sorted()
            .toArray();
    assertThat(minutes[0]).isGreaterThan(31.6 * 0.99);
    assertThat(minutes[MANY - 1]).isLessThan(10_000);
    assertThat(minutes[MANY * 8 / 10]).isEqualTo(1000, within(20.0));
    assertThat(minutes[MANY * 4 / 10]).isEqualTo(Math.pow(10, 2.25), within(5.0));
    double mean = Arrays.stream(minutes).average().orElseThrow();
    assertThat(mean / 60).isEqualTo(16.77, within(0.2));
  }

  @Test
  void tasksHaveTheirSharesAndModelsTakeTurns() throws Exception {
    Map<String, Long> counts =
        jobs(8, "image=20,language=70,speech=10", false).stream()
            .collect(Collectors.groupingBy(TraceJob::model, Collectors.counting()));
    assertThat(counts)
        .hasSize(10)
        .containsEntry("alexnet", 4000L)
        .containsEntry("shufflenet", 4000L)
        .containsEntry("m5", 5000L)
        .doesNotContainKey("bert");
    assertThat(counts.get("gnmt") + counts.get("transformer") + counts.get("lstm"))
        .isEqualTo(70_000);
  }

  @Test
  void severalGpusAreDrawnOnlyOnRequest() throws Exception {
    Map<Integer, Long> counts =
        jobs(8, "image=100", true).stream()
            .collect(Collectors.groupingBy(TraceJob::gpus, Collectors.counting()));
    assertThat(counts).containsOnlyKeys(1, 2, 4, 8);
    assertThat(counts.get(1) / (double) MANY).isEqualTo(0.7, within(0.005));
    assertThat(counts.get(2) / (double) MANY).isEqualTo(0.1, within(0.005));
    assertThat(counts.get(4) / (double) MANY).isEqualTo(0.15, within(0.005));
    assertThat(jobs(8, "image=100", false)).allMatch(job -> job.gpus() == 1);
  }

  @Test
  void anInvalidSplitIsRefused() {
    assertThatThrownBy(() -> jobs(8, "image=20,language=70", false))
        .isInstanceOf(InputException.class)
        .hasMessage("the split image=20,language=70 adds up to 90 percent, not to 100");
    assertThatThrownBy(() -> jobs(8, "image=50,image=50", false))
        .hasMessage("the split's 'image=50' is not TASK=PERCENT, or its task is named twice");
    assertThatThrownBy(() -> jobs(8, "image", false))
        .hasMessage("the split's 'image' is not TASK=PERCENT, or its task is named twice");
    assertThatThrownBy(() -> jobs(8, "video=100", false))
        .hasMessage("the split names the task 'video', which no model of the table has");
  }
}
