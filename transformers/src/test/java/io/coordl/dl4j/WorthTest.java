package io.coordl.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When keeping batches costs more than it brings. */
class WorthTest {
  private final Worth worth = new Worth();

  private void batches(int times, long nanos, long ofMaking) {
    for (int i = 0; i < times; i++) {
      worth.taken(nanos, ofMaking);
    }
  }

  @Test
  void batchesThatTakeLongToMakeAreWorthIt() {
    batches(256, 1_100, 1_000);
    batches(1024, 100, 0);
    assertThat(worth.isIt()).isTrue();
  }

  @Test
  void batchesThatAreMadeAsQuicklyAsTheyAreKeptAreNot() {
    batches(255, 1_900, 1_000);
    assertThat(worth.isIt()).isTrue(); // Too few to tell.
    batches(1, 1_900, 1_000);
    assertThat(worth.isIt()).isFalse();
  }

  /** What was found counts as much as it took to make. */
  @Test
  void whatIsSavedPaysForTheFirstEpoch() {
    batches(128, 1_700, 1_000);
    batches(128, 100, 0);
    assertThat(worth.isIt()).isTrue();
  }

  @Test
  void manySmallIteratorsAreNot() {
    for (int i = 0; i < 32; i++) {
      assertThat(worth.isIt()).isTrue();
      worth.begun(700);
      worth.taken(300, 200);
    }
    assertThat(worth.isIt()).isFalse();
  }
}
