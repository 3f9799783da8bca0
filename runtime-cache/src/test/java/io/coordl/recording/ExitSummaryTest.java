package io.coordl.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.attribution.JobTotals;
import io.coordl.attribution.Totals;
import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.staging.StagingStatistics;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The text at exit stays within its 20 lines. */
class ExitSummaryTest {
  private static StagingStatistics pipeline(long taken) {
    return new StagingStatistics(
        "g", "p" + taken, 1, 2, 1, 2, 1, 1, 0, taken, 0, 1, 0, 0, 0, 0, 1, 1, 77, 1, 0, 0, 0);
  }

  private static List<String> linesWith(int pipelines) {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    job.spans().itemFetched("item", 0, 1, 1, Origin.STORAGE);
    List<StagingStatistics> all =
        LongStream.rangeClosed(1, pipelines).mapToObj(ExitSummaryTest::pipeline).toList();
    job.addStaging(() -> all, () -> {});
    return job.finish();
  }

  @Test
  void manyPipelinesAreNotAllShown() {
    List<String> lines = linesWith(30);
    assertThat(lines).hasSizeLessThanOrEqualTo(20);
    assertThat(lines).filteredOn(line -> line.contains("30 batches from the group")).hasSize(1);
    assertThat(lines).filteredOn(line -> line.contains("more pipelines, see")).hasSize(1);
  }

  private static final Setting GIVEN = new Setting("decoded", "share", "argument");
  private static final Setting NOT_GIVEN = new Setting("cache", "off", "default");

  private static String advice(
      List<Setting> settings, boolean steady, long fetchStall, long prepStall) {
    JobMonitor job = new JobMonitor(settings, "main", new AgentLog(), new RewriteLog());
    job.sawFramework("DJL");
    Totals judged = new Totals();
    judged.batches = 100;
    judged.fetchStall = fetchStall;
    judged.prepStall = prepStall;
    judged.stall = fetchStall + prepStall;
    JobTotals.Epochs epochs =
        new JobTotals.Epochs(steady ? 5 : 1, steady ? 3 : 1, 0, steady, 1_000, judged);
    return new ExitSummary(job, null, List.of()).advice(epochs, job.spans().totals().snapshot());
  }

  @Test
  void theCureThatAJobHasIsNotDropped() {
    assertThat(advice(List.of(GIVEN, NOT_GIVEN), true, 0, 300))
        .startsWith("from the second epoch on the job waits for preparation")
        .contains("try -javaagent:coordl-agent.jar=decoded=share,prefetch=2,");
    assertThat(advice(List.of(GIVEN, NOT_GIVEN), true, 300, 0))
        .endsWith("try -javaagent:coordl-agent.jar=decoded=share,cache=minio");
  }

  @Test
  void aJobThatHardlyWaitsAfterItsFirstEpochIsDone() {
    assertThat(advice(List.of(GIVEN), true, 10, 10))
        .isEqualTo(
            "nothing to do: from the second epoch on, waiting for data is 2.0 % of the time");
    assertThat(advice(List.of(GIVEN), false, 10, 10))
        .isEqualTo("nothing to do: in the only epoch, waiting for data is 2.0 % of the time");
  }

  private static void pass(JobMonitor job, SpanKind step) {
    Object iterator = new Object();
    job.spans().exit(job.spans().enter(SpanKind.TAKE, iterator), new Object());
    job.spans().exit(job.spans().enter(step, null), null);
    job.spans().exit(job.spans().enter(SpanKind.ASK, iterator), false);
  }

  @Test
  void anEvaluationIsNoEpoch() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    long fit = job.spans().enter(SpanKind.FIT, null);
    for (int epoch = 0; epoch < 2; epoch++) {
      pass(job, SpanKind.UPDATE);
      pass(job, SpanKind.COMPUTE);
    }
    job.spans().exit(fit, null);
    assertThat(job.finish().get(0))
        .startsWith("training: 2 epochs, 2 evaluation passes, 4 batches");
  }

  @Test
  void wherePassesUpdateNoModelTheyAreCalledWhatTheyAre() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    pass(job, SpanKind.COMPUTE);
    pass(job, SpanKind.COMPUTE);
    assertThat(job.finish().get(0)).startsWith("training: 2 passes over data, 2 batches");
  }

  @Test
  void aFewPipelinesAreShown() {
    assertThat(linesWith(3)).filteredOn(line -> line.contains("from the group")).hasSize(3);
  }

  @Test
  void aPipelineIsKnownByItsLengthAndWhatWasNotSharedIsExplained() {
    JobMonitor job = jobThatReads(new AgentLog());
    StagingStatistics training =
        new StagingStatistics(
            "g", "p", 1, 2, 1, 2, 3, 2, 9, 38, 0, 1, 19, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0);
    StagingStatistics evaluation =
        new StagingStatistics(
            "g", "q", 1, 2, 1, 2, 3, 3, 9, 15, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0);
    job.addStaging(() -> List.of(training, evaluation), () -> {});

    assertThat(job.finish())
        .anyMatch(
            line ->
                line.contains("2 of 3 passes shared")
                    && line.endsWith("; 19 batches a pass, 1 pass while no other job took part"))
        .anyMatch(
            line -> line.contains("3 of 3 passes shared") && line.endsWith("; 5 batches a pass"));
  }

  private static JobMonitor jobThatReads(AgentLog log) {
    JobMonitor job = new JobMonitor(List.of(), "main", log, new RewriteLog());
    job.spans().itemFetched("item", 0, 1, 1, Origin.STORAGE);
    return job;
  }

  @Test
  void whatWasAskedForAndDidNothingSaysWhyOnce() {
    JobMonitor job = jobThatReads(new AgentLog());
    job.addAsked("cache=minio", "cache=minio", () -> "no item was read");
    job.addAsked("decoded=share", "decoded=share", () -> "");

    assertThat(job.finish())
        .filteredOn(line -> line.contains("did nothing"))
        .containsExactly("cache=minio did nothing: no item was read");
  }

  @Test
  void whatTheLibrarysCodeSaidOfAPolicyIsTheReason() {
    AgentLog log = new AgentLog();
    log.say("decoded=share leaves loaders with a MultiPageMode to DL4J.");
    JobMonitor job = jobThatReads(log);
    job.addAsked("decoded=share", "decoded=share", () -> "no image was decoded");

    assertThat(job.finish())
        .contains("decoded=share did nothing: it leaves loaders with a MultiPageMode to DL4J");
  }

  @Test
  void itIsSaidEvenIfNothingWasRead() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    job.addAsked("dataset=/a", "dataset=/a", () -> "the program read no file at or below /a");

    assertThat(job.finish())
        .containsExactly("dataset=/a did nothing: the program read no file at or below /a");
  }

  @Test
  void manyNamesThatFoundNothingLeaveRoomForTheRest() {
    JobMonitor job = jobThatReads(new AgentLog());
    for (int i = 0; i < 100; i++) {
      String asked = "dataset=/" + i;
      job.addAsked(asked, asked, () -> "nothing");
    }
    job.addAsked(
        "cache=minio",
        "cache=minio",
        () -> {
          throw new IllegalStateException("closed");
        });
    List<StagingStatistics> pipelines =
        LongStream.rangeClosed(1, 30).mapToObj(ExitSummaryTest::pipeline).toList();
    job.addStaging(() -> pipelines, () -> {});

    assertThat(job.finish()).hasSizeLessThanOrEqualTo(20).last().asString().startsWith("next: ");
  }
}
