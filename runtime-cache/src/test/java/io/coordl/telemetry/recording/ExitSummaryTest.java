package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The lines of the summary at exit, at most 20. */
class ExitSummaryTest {
  private static StagingStatisticsEvent pipeline(long taken) {
    StagingStatisticsEvent pipeline = pipeline(1, 1, taken);
    pipeline.pipeline = "p" + taken;
    pipeline.slowestJob = 77;
    return pipeline;
  }

  private static StagingStatisticsEvent pipeline(long epochs, long shared, long taken) {
    StagingStatisticsEvent pipeline = new StagingStatisticsEvent();
    pipeline.group = "g";
    pipeline.epochs = epochs;
    pipeline.sharedEpochs = shared;
    pipeline.taken = taken;
    return pipeline;
  }

  private static List<String> linesWith(int pipelines) {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    job.figures().spans().itemFetched("item", 0, 1, 1, Origin.STORAGE);
    List<StagingStatisticsEvent> all =
        LongStream.rangeClosed(1, pipelines).mapToObj(ExitSummaryTest::pipeline).toList();
    job.addStaging(() -> all, () -> {});
    return job.finish();
  }

  @Test
  void manyPipelinesAreSummarized() {
    List<String> lines = linesWith(30);
    assertThat(lines).hasSizeLessThanOrEqualTo(20);
    assertThat(lines).filteredOn(line -> line.contains("30 batches from the group")).hasSize(1);
    assertThat(lines).filteredOn(line -> line.contains("more pipelines, see")).hasSize(1);
  }

  private static void epoch(JobMonitor job, SpanKind step) {
    Object iterator = new Object();
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.TAKE, iterator), new Object());
    job.figures().spans().exit(job.figures().spans().enter(step, null), null);
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.ASK, iterator), false);
  }

  @Test
  void evaluationsAreNotCountedAsEpochs() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    long fit = job.figures().spans().enter(SpanKind.FIT, null);
    for (int epoch = 0; epoch < 2; epoch++) {
      epoch(job, SpanKind.UPDATE);
      epoch(job, SpanKind.COMPUTE);
    }
    job.figures().spans().exit(fit, null);
    assertThat(job.finish().get(0)).startsWith("training: 2 epochs, 2 evaluations, 4 batches");
  }

  @Test
  void theSharesAddUpToTheWholeTime() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    epoch(job, SpanKind.UPDATE);
    for (long until = System.nanoTime() + 5_000_000; System.nanoTime() < until; ) {
      Thread.onSpinWait(); // The program does other work.
    }
    epoch(job, SpanKind.UPDATE);

    Pattern share =
        Pattern.compile("  (compute|data stall|checkpoints|between epochs) .* s +([\\d.]+) %.*");
    double sum =
        job.finish().stream()
            .map(share::matcher)
            .filter(Matcher::matches)
            .mapToDouble(line -> Double.parseDouble(line.group(2)))
            .sum();
    assertThat(sum).isBetween(99.7, 100.3);
  }

  @Test
  void epochsWithoutAModelUpdateAreReportedAsSuch() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    epoch(job, SpanKind.COMPUTE);
    epoch(job, SpanKind.COMPUTE);
    assertThat(job.finish().get(0))
        .startsWith("training: 2 epochs without a model update, 2 batches");
  }

  /** Another job of the group prepared all batches that this job took. */
  @Test
  void aStoreWithHitsOnlyIsReported() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.store = "prepared";
    store.scope = "host";
    store.hits = 192;
    job.addStore(() -> store, () -> {});
    assertThat(job.finish())
        .anyMatch(line -> line.startsWith("prepared cache (host)") && line.contains("192 hits"));
  }

  @Test
  void aFewPipelinesAreAllShown() {
    assertThat(linesWith(3)).filteredOn(line -> line.contains("from the group")).hasSize(3);
  }

  @Test
  void pipelinesAreNamedTrainingOrEvaluationAndUnsharedEpochsAreExplained() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    epoch(job, SpanKind.UPDATE);
    StagingStatisticsEvent training = pipeline(3, 2, 38);
    training.nobody = 19;
    training.updates = 37;
    StagingStatisticsEvent evaluation = pipeline(3, 3, 15);
    job.addStaging(() -> List.of(training, evaluation), () -> {});

    assertThat(job.finish())
        .anyMatch(
            line ->
                line.startsWith(
                    "coordinated prep (g): 2 of 3 epochs shared (1 while no other job took part);"))
        .anyMatch(
            line -> line.startsWith("coordinated prep (g): 3 of 3 evaluations shared; 15 bat"));
  }

  @Test
  void epochsLeftEarlyAreCountedAsSuch() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    epoch(job, SpanKind.UPDATE);
    long fit = job.figures().spans().enter(SpanKind.FIT, null);
    job.figures()
        .spans()
        .exit(job.figures().spans().enter(SpanKind.TAKE, new Object()), new Object());
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.UPDATE, null), null);
    job.figures().spans().exit(fit, null);
    assertThat(job.finish().get(0))
        .startsWith("training: 2 epochs, 1 of them left early, 2 batches");
  }

  @Test
  void theTrainingSpeedComesFirst() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    job.figures().spans().counts(batch -> 32);
    epoch(job, SpanKind.UPDATE);
    epoch(job, SpanKind.UPDATE);
    assertThat(job.finish().get(0))
        .matches("training: [0-9.,]+ samples/s from the second epoch on; 2 epochs, 2 batches, .*");
  }

  @Test
  void batchesOfUnknownSizeReportNoSpeed() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    epoch(job, SpanKind.UPDATE);
    epoch(job, SpanKind.UPDATE);
    assertThat(job.finish()).noneMatch(line -> line.contains("samples/s"));
  }

  private static JobMonitor jobThatReads(AgentLog log) {
    JobMonitor job = new JobMonitor(List.of(), "main", log, new RewriteLog());
    job.figures().spans().itemFetched("item", 0, 1, 1, Origin.STORAGE);
    return job;
  }

  @Test
  void anOptionWithoutEffectReportsItsReasonOnce() {
    JobMonitor job = jobThatReads(new AgentLog());
    job.addRequested("cache=minio", "cache=minio", () -> "no item was read");
    job.addRequested("decoded=share", "decoded=share", () -> "");

    assertThat(job.finish())
        .filteredOn(line -> line.contains("did nothing"))
        .containsExactly("cache=minio did nothing: no item was read");
  }

  @Test
  void anEarlierLogLineAboutAPolicyIsTheReason() {
    AgentLog log = new AgentLog();
    log.say("decoded=share leaves loaders with a MultiPageMode to DL4J.");
    JobMonitor job = jobThatReads(log);
    job.addRequested("decoded=share", "decoded=share", () -> "no image was decoded");

    assertThat(job.finish())
        .contains("decoded=share did nothing: it leaves loaders with a MultiPageMode to DL4J");
  }

  @Test
  void optionsWithoutEffectAreReportedEvenIfNothingWasRead() {
    JobMonitor job = new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
    job.addRequested("dataset=/a", "dataset=/a", () -> "the program read no file at or below /a");

    assertThat(job.finish())
        .containsExactly("dataset=/a did nothing: the program read no file at or below /a");
  }

  @Test
  void manyUnusedOptionsLeaveRoomForTheRest() {
    JobMonitor job = jobThatReads(new AgentLog());
    for (int i = 0; i < 100; i++) {
      String option = "dataset=/" + i;
      job.addRequested(option, option, () -> "nothing");
    }
    job.addRequested(
        "cache=minio",
        "cache=minio",
        () -> {
          throw new IllegalStateException("closed");
        });
    List<StagingStatisticsEvent> pipelines =
        LongStream.rangeClosed(1, 30).mapToObj(ExitSummaryTest::pipeline).toList();
    job.addStaging(() -> pipelines, () -> {});

    assertThat(job.finish()).hasSizeLessThanOrEqualTo(20).last().asString().startsWith("next: ");
  }

  @Test
  void manyPolicyReportsLeaveRoomForTheRest() {
    JobMonitor job = jobThatReads(new AgentLog());
    for (int i = 0; i < 30; i++) {
      String report = "prefetch: " + i;
      job.addPolicy(() -> report, () -> {});
    }

    assertThat(job.finish()).hasSize(20).last().asString().startsWith("next: ");
  }
}
