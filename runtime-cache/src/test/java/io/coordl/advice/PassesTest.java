package io.coordl.advice;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Passes are counted in one way, wherever they are. */
class PassesTest {
  private final Passes passes = new Passes();

  @Test
  void whatWasLeftEarlyIsCountedAndSaidToBeSo() {
    passes.add(true, "my.Images", true, Figures.NONE);
    assertThat(passes.words(1, 1)).isEqualTo("1 epoch");
    passes.add(true, "my.Images", false, Figures.NONE);
    passes.add(false, "my.Images", true, Figures.NONE);
    assertThat(passes.words(2, 3)).isEqualTo("2 epochs, 1 of them left early, 1 evaluation pass");
    assertThat(passes.words(3, 4)).as("one was killed").contains("3 epochs, 2 of them left early");
  }

  @Test
  void theOnlyEpochIsNotOneOfMany() {
    passes.add(true, "my.Images", false, Figures.NONE);
    assertThat(passes.words(1, 1)).isEqualTo("1 epoch, left early");
  }

  @Test
  void whereNoUpdateWasSeenNobodyKnowsWhichPassIsWhat() {
    passes.add(false, "my.B", true, Figures.NONE);
    passes.add(false, "my.A", true, Figures.NONE);
    passes.add(false, "my.A", false, Figures.NONE);
    assertThat(passes.words(0, 3)).isEqualTo("3 passes over data (2 of my.A, 1 of my.B)");
  }

  @Test
  void whyAPassWasNotSharedIsSaid() {
    assertThat(Passes.shared(2, 3, true, true))
        .isEqualTo("2 of 3 epochs shared (1 while no other job took part)");
    assertThat(Passes.shared(1, 1, false, true)).isEqualTo("1 of 1 evaluation pass shared");
    assertThat(Passes.shared(3, 3, false, false)).isEqualTo("3 of 3 passes shared");
  }
}
