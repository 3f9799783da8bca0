package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether keeping saves more than it costs. Times are given, not measured. */
class WorthTest {
  private static final int SIZE = 1_000;

  private final List<String> said = new ArrayList<>();
  private long now;
  private int epochs = 10;
  private final Worth worth = new Worth("sample", () -> epochs, () -> now, said::add);

  /** Makes and keeps samples, and finds them if probed; returns the number of probes. */
  private int kept(int samples, long making, long keeping, long finding) {
    int probes = 0;
    for (int i = 0; i < samples && worth.paysOff(); i++) {
      worth.made(making);
      if (worth.probes()) {
        probes++;
        worth.probed(finding, 1);
      }
      worth.kept(keeping);
    }
    return probes;
  }

  private void found(int samples, long finding) {
    for (int i = 0; i < samples && worth.paysOff(); i++) {
      worth.found(finding, 1);
    }
  }

  @Test
  void slowSamplesAreWorthKeeping() {
    worth.begun(1_000, SIZE);
    assertThat(kept(SIZE, 100_000, 20_000, 1_000)).isLessThan(300); // They are enough to decide.
    found(10 * SIZE, 1_000);
    assertThat(worth.paysOff()).isTrue();
    assertThat(said).isEmpty();
  }

  /** Decided early in the first epoch. */
  @Test
  void samplesFoundAsSlowlyAsMadeAreNotWorthKeeping() {
    worth.begun(1_000, 65_536);
    assertThat(kept(65_536, 6_000, 20_000, 6_000)).isLessThan(2_100);
    assertThat(worth.paysOff()).isFalse();
    assertThat(said)
        .containsExactly(
            "caching would not pay off; a sample takes 6.0 us to make, 6.0 to find, 20.0 to cache,"
                + " and 0.0 to check for changes");
  }

  /** Keeping costs 147 us and saves 14 us an epoch: it pays off in 20 epochs, not in 10. */
  @Test
  void keepingMustPayWithinTheGivenEpochs() {
    kept(3_000, 42_000, 147_000, 28_000);
    assertThat(worth.paysOff()).isFalse();
    now = Long.MAX_VALUE / 2;
    epochs = 20;
    kept(3_000, 42_000, 147_000, 28_000);
    assertThat(worth.paysOff()).isTrue();
  }

  /** The cost of keeping is sunk: after the first epoch, only finding counts. */
  @Test
  void keptSamplesAreUsed() {
    epochs = 1_000;
    kept(3_000, 42_000, 147_000, 28_000);
    epochs = 1;
    found(3_000, 28_000);
    assertThat(worth.paysOff()).isTrue();
  }

  @Test
  void costOfCheckingALargePipelineInEachEpochMatters() {
    long check = 200_000_000; // As long as it takes to make all samples.
    worth.begun(5 * check, SIZE);
    kept(SIZE, 200_000, 20_000, 1_000);
    worth.begun(check, SIZE);
    found(SIZE, 1_000);
    assertThat(worth.paysOff()).isTrue(); // Later checks may be quicker.
    worth.begun(check, SIZE);
    assertThat(worth.paysOff()).isFalse();
    assertThat(said).singleElement().asString().endsWith("200.0 to check for changes");
  }

  /** The loop takes a few batches of a large data set and then stops. */
  @Test
  void costOfCheckingIsSpreadOverTheSamplesTaken() {
    for (int epoch = 0; epoch < 5; epoch++) {
      worth.begun(20_000_000, 300_000);
      kept(epoch == 0 ? 80 : 0, 30_000, 20_000, 1_000);
      found(epoch == 0 ? 0 : 80, 1_000);
    }
    assertThat(worth.paysOff()).isFalse();
    assertThat(said).singleElement().asString().endsWith("250.0 to check for changes");
  }

  @Test
  void slowFirstChecksDoNotDecide() {
    for (int epoch = 0; epoch < 5; epoch++) {
      worth.begun(epoch < 2 ? 100_000_000 : 1_000_000, SIZE);
      kept(epoch == 0 ? SIZE : 0, 200_000, 20_000, 1_000);
      found(epoch == 0 ? 0 : SIZE, 1_000);
    }
    assertThat(worth.paysOff()).isTrue();
  }

  /** The first 257 batches of a JVM, while its code is still cold. */
  @Test
  void coldCodeDoesNotDecide() {
    for (int batch = 0; batch < 257; batch++) {
      kept(1, 1_000_000, 2_500_000 - batch * 9_000L, 1_500_000 - batch * 5_800L);
    }
    assertThat(worth.paysOff()).isTrue();
    found(1_000, 100_000);
    assertThat(worth.paysOff()).isTrue();
    assertThat(said).isEmpty();
  }

  @Test
  void keepingIsTriedAgainLater() {
    kept(65_536, 6_000, 20_000, 6_000); // The code was cold.
    assertThat(worth.paysOff()).isFalse();
    now += 50L * 2_049 * 26_000; // The trial may take a fiftieth of the time.
    assertThat(worth.paysOff()).isTrue();
    kept(65_536, 6_000, 2_000, 600);
    assertThat(worth.paysOff()).isTrue();
    assertThat(said).hasSize(1);
  }

  @Test
  void manySmallPipelinesAreNotWorthKeeping() {
    for (int i = 0; i < 40 && worth.paysOff(); i++) {
      worth.begun(7_000, 4);
      kept(4, 200, 100, 100);
    }
    assertThat(worth.paysOff()).isFalse();
  }

  @Test
  void testDataBetweenTwoEpochsOfTrainingAreNoReasonToStop() {
    for (int epoch = 0; epoch < 3; epoch++) {
      for (int units : new int[] {SIZE, SIZE / 4, SIZE / 4}) {
        worth.begun(1_000, units);
        if (epoch == 0) {
          kept(units, 100_000, 20_000, 1_000);
        } else {
          found(units, 1_000);
        }
      }
    }
    assertThat(worth.paysOff()).isTrue();
    assertThat(said).isEmpty();
  }

  @Test
  void samplesThatDifferInEachEpochAreNotWorthKeeping() {
    for (int epoch = 0; epoch < 5; epoch++) {
      worth.begun(1_000, SIZE);
      kept(SIZE, 100_000, 20_000, 1_000);
    }
    assertThat(worth.paysOff()).isFalse();
    assertThat(said).containsExactly("its cached units are not requested again");
  }

  /** The largest epoch so far is the measure. */
  @Test
  void samplesOfEpochsOfUnknownSizeMayDifferToo() {
    for (int epoch = 0; epoch < 5; epoch++) {
      assertThat(worth.paysOff()).as("epoch " + epoch).isEqualTo(epoch < 4);
      worth.begun(1_000, 1);
      for (int end = 0; end < 3 && epoch > 0; end++) {
        worth.begun(1_000, 1); // A program may reset an iterator several times.
        kept(1, 100_000, 20_000, 1_000);
      }
      kept(SIZE, 100_000, 20_000, 1_000);
    }
    assertThat(said).containsExactly("its cached units are not requested again");
  }

  /** Stacking samples that are found is part of finding them. */
  @Test
  void timeSavedByNotStackingMatters() {
    for (int i = 0; i < 3_000; i++) {
      worth.batched(4_000, 1);
      kept(1, 2_000, 3_000, 3_000);
    }
    assertThat(worth.paysOff()).isTrue();
  }
}
