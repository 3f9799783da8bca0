package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EpochLinesTest {
  private static final long SECOND = 1_000_000_000;

  private final List<String> logged = new ArrayList<>();
  private long now;
  private final JobStatisticsEvent totals = new JobStatisticsEvent();
  private boolean profiled;
  private long model;
  private long coreWait;
  private final EpochLines lines =
      new EpochLines(logged::addAll, () -> now, () -> totals, () -> profiled);

  /** An epoch of 100 batches of 32 samples. */
  private void epoch(long seconds, long gc, long updates, String source) {
    EpochEvent epoch = new EpochEvent();
    epoch.complete = true;
    epoch.source = source;
    epoch.updates = updates;
    epoch.model = model;
    epoch.computeCoreWait = coreWait;
    epoch.batches = 100;
    epoch.samples = 3_200;
    epoch.items = 3_200;
    epoch.memoryItems = 800;
    epoch.wall = seconds * SECOND;
    epoch.gcStall = gc * SECOND;
    epoch.prepStall = SECOND;
    epoch.stall = epoch.gcStall + epoch.prepStall;
    epoch.compute = epoch.wall - epoch.stall;
    now += epoch.wall;
    lines.accept(epoch);
  }

  private void epoch(long seconds, long gc) {
    epoch(seconds, gc, 100, "data");
  }

  @Test
  void coreWaitsOfStepsAreReported() {
    coreWait = 8 * SECOND;
    epoch(16, 3);
    assertThat(logged.get(0)).contains("queueing 0.0 %), steps without a core 50.0 %,");
    coreWait = SECOND / 2;
    epoch(16, 3);
    assertThat(logged.get(1)).doesNotContain("core");
  }

  /** An epoch of a second network on the same data is not a slow epoch of the first. */
  @Test
  void epochsOfDifferentModelsAreNotCompared() {
    for (int i = 0; i < 4; i++) {
      epoch(20, 1);
    }
    model = 2;
    for (int i = 0; i < 3; i++) {
      epoch(200, 1);
    }
    assertThat(logged).noneMatch(line -> line.contains("longer than"));
    assertThat(logged.get(4)).startsWith("model 2, epoch 1: 16.0 samples/s");
  }

  @Test
  void aLongEpochGetsItsOwnLine() {
    epoch(16, 3);

    assertThat(logged)
        .containsExactly(
            "epoch 1: 200 samples/s, 16.00 s; data stall 25.0 % (fetch 0.0 %, prep 6.3 %, GC 18.8"
                + " %, queueing 0.0 %), 25.0 % of items from memory");
  }

  @Test
  void remainingEpochsAreReportedIfKnown() {
    totals.epochs = 1;
    totals.plannedEpochs = 30;
    totals.timeLeft = 3_725 * SECOND;
    epoch(16, 3);

    assertThat(logged).singleElement().asString().endsWith("; 29 epochs left, about 1 h 2 min");
  }

  @Test
  void shortEpochsShareALineAndEvaluationsHaveNone() {
    for (int i = 0; i < 6; i++) {
      epoch(4, 0);
      epoch(4, 0, 0, "test data");
    }

    assertThat(logged).hasSize(3);
    assertThat(logged.get(0)).startsWith("epochs 1 to 2: 800 samples/s, 8.00 s; data stall 25.0 %");
    assertThat(logged.get(1)).startsWith("epochs 3 to 4: 800 samples/s");
    assertThat(logged.get(2)).startsWith("epochs 5 to 6: 800 samples/s");
  }

  @Test
  void slowerEpochsAreReportedOnceAndAgainWhenTheyGetWorse() {
    epoch(40, 0); // The first epoch is warm-up and is not compared.
    epoch(20, 1);
    epoch(24, 5);
    assertThat(logged).hasSize(3);
    epoch(26, 7);
    assertThat(logged)
        .hasSize(5)
        .last()
        .asString()
        .isEqualTo(
            "epoch 4: a batch takes 30 % longer than in epoch 2, 260.0 ms instead of 200.0 ms; most"
                + " of it is GC stall, 70.0 ms instead of 10.0 ms");
    epoch(28, 9);
    assertThat(logged).hasSize(6);
    epoch(40, 9);
    assertThat(logged)
        .hasSize(8)
        .last()
        .asString()
        .endsWith(
            "most of it is compute, 300.0 ms instead of 180.0 ms, and GC stall, 90.0 ms instead of"
                + " 10.0 ms");
  }

  /**
   * The phases of a profile differ in speed: here, the longest epoch takes eight times as long as
   * the shortest.
   */
  @Test
  void epochsOfAProfileAreNotCompared() {
    profiled = true;
    epoch(40, 0);
    epoch(20, 1);
    epoch(160, 5);
    assertThat(logged).hasSize(3).noneMatch(line -> line.contains("longer than"));
  }

  @Test
  void unknownSizesAreOmitted() {
    EpochEvent epoch = new EpochEvent();
    epoch.updates = 1;
    epoch.batches = 1;
    epoch.wall = 20 * SECOND;
    epoch.checkpoint = 2 * SECOND;
    now += epoch.wall;
    lines.accept(epoch);

    assertThat(logged).singleElement().asString().startsWith("epoch 1: 20.00 s; data stall 0.0 %");
    assertThat(logged.get(0)).endsWith(", checkpoints 10.0 %");
  }
}
