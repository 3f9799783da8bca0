package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepSeriesTest {
  @TempDir Path folder;

  private JobRecording read(Runnable events) throws Exception {
    return RecordingReader.readSteps(
        Recordings.record(folder.resolve("job.jfr"), events), done -> {});
  }

  private static void emitEpoch(long number, String source, long updates) {
    EpochEvent epoch = new EpochEvent();
    epoch.epoch = number;
    epoch.source = source;
    epoch.updates = updates;
    epoch.batches = 1;
    epoch.compute = updates;
    epoch.commit();
  }

  @Test
  void aStepHasItsWaitItsComputeAndItsBatch() throws Exception {
    JobRecording recording =
        read(
            () -> {
              Recordings.emitSteps(1, 16_000, 32_000);
              emitEpoch(1, "my.Images", 2);
            });

    assertThat(recording.trainingSteps()).hasSize(2);
    Figures second = recording.trainingSteps().get(1);
    assertThat(second.wall).isEqualTo(32_000);
    assertThat(second.stall).isEqualTo(8_000);
    assertThat(second.prepStall).isEqualTo(8_000);
    assertThat(second.compute).isEqualTo(24_000);
    assertThat(second.decodeTime).isEqualTo(4_000);
    assertThat(second.batches).isEqualTo(1);
    assertThat(second.samples).isEqualTo(32);
  }

  @Test
  void onlyStepsOfTheTrainingDataSetCount() throws Exception {
    JobRecording recording =
        read(
            () -> {
              Recordings.emitSteps(1, 16_000);
              emitEpoch(1, "my.Images", 5);
              Recordings.emitSteps(2, 1_600, 1_600);
              emitEpoch(2, "my.Images", 0);
              Recordings.emitSteps(3, 160);
              emitEpoch(3, "my.Texts", 1);
              Recordings.emitSteps(4, 17_000);
            });

    // The fourth epoch has not ended, so it may be an evaluation.
    assertThat(recording.steps()).hasSize(5);
    assertThat(recording.trainingSteps()).extracting(step -> step.wall).containsExactly(16_000L);
  }

  @Test
  void theFirstEpochCountsIfLaterOnesHaveFewSteps() throws Exception {
    double[] thirty = new double[30];
    Arrays.fill(thirty, 1_600);
    Runnable few =
        () -> {
          Recordings.emitSteps(1, thirty);
          emitEpoch(1, "my.Images", 5);
          Recordings.emitSteps(2, Arrays.copyOf(thirty, 29));
          emitEpoch(2, "my.Images", 5);
        };

    assertThat(read(few).trainingSteps()).hasSize(59);
    assertThat(
            read(() -> {
                  few.run();
                  Recordings.emitSteps(3, 1_600);
                  emitEpoch(3, "my.Images", 5);
                })
                .trainingSteps())
        .hasSize(30);
  }

  @Test
  void beforeAnEpochHasEndedAllStepsCount() throws Exception {
    JobRecording recording =
        read(
            () -> {
              Recordings.emitSteps(1, 16_000, 17_000);
              Recordings.emitTotals(1, 2, 33_000, 0);
            });

    assertThat(recording.trainingSteps()).hasSize(2);
  }

  @Test
  void incompleteStepsDoNotCount() throws Exception {
    JobRecording recording =
        read(
            () -> {
              Recordings.emitSteps(1, 16_000);
              DataStallEvent last = new DataStallEvent();
              last.batch = 2_000;
              last.epoch = 1;
              last.wait = 5;
              last.commit();
              BatchEvent neverTaken = new BatchEvent();
              neverTaken.batch = 2_001;
              neverTaken.samples = 32;
              neverTaken.commit();
              emitEpoch(1, "my.Images", 1);
            });

    assertThat(recording.trainingSteps()).hasSize(1);
  }

  @Test
  void stepsAreNotReadUnlessRequested() throws Exception {
    Path file = Recordings.record(folder.resolve("job.jfr"), () -> emitEpoch(1, "my.Images", 1));

    assertThat(RecordingReader.read(file, done -> {}).steps()).isEmpty();
  }

  private static void take(
      Map<String, Consumer<JobEvent>> takers, String event, Map<String, Long> fields) {
    Objects.requireNonNull(takers.get("io.coordl." + event))
        .accept(new FakeEvent(field -> fields.getOrDefault(field, 0L)));
  }

  /** Events come in any order, as those of several threads do. */
  @Test
  void manyBatchesShareSlotsAndNothingIsLost() {
    StepSeries series = new StepSeries();
    Map<String, Consumer<JobEvent>> takers = series.takers();
    long batches = 3L * StepSeries.SLOTS;
    LongStream.rangeClosed(1, batches)
        .forEach(
            batch -> {
              long epoch = batch <= batches / 2 ? 1 : 2;
              take(takers, "Step", Map.of("batch", batch, "epoch", epoch, "compute", 3L));
              take(takers, "DataStall", Map.of("batch", batch, "epoch", epoch, "wait", 2L));
            });
    LongStream.rangeClosed(1, batches)
        .forEach(batch -> take(takers, "Batch", Map.of("batch", batch, "samples", 10L)));

    assertThat(series.steps()).hasSizeBetween(StepSeries.SLOTS / 2, StepSeries.SLOTS);
    assertThat(series.steps().stream().mapToLong(one -> one.figures().batches).sum())
        .isEqualTo(batches);
    assertThat(series.steps().stream().mapToLong(one -> one.figures().samples).sum())
        .isEqualTo(10 * batches);
    assertThat(series.steps().stream().mapToLong(one -> one.figures().wall).sum())
        .isEqualTo(5 * batches);
    assertThat(series.steps().stream().filter(one -> one.firstEpoch() != one.lastEpoch()).count())
        .isLessThanOrEqualTo(1);
  }

  @Test
  void impossibleBatchNumbersAreTolerated() {
    StepSeries series = new StepSeries();
    Map<String, Consumer<JobEvent>> takers = series.takers();
    for (long batch : new long[] {5, Long.MAX_VALUE, -1, 0, Long.MIN_VALUE}) {
      take(takers, "Step", Map.of("batch", batch, "epoch", 1L, "compute", 3L));
      take(takers, "DataStall", Map.of("batch", batch, "epoch", 1L, "wait", 2L));
    }

    assertThat(series.steps()).hasSize(2);
  }
}
