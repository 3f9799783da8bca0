package io.coordl.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.benchmarks.AdviceBars.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdviceBarsTest {
  private static Step step(double bound, Double... ratios) {
    return new Step("prefetch=2", bound, List.of(ratios), List.of());
  }

  @Test
  void aTrueAndTightBoundMeetsTheBars() {
    List<AdviceBars> all =
        List.of(new AdviceBars("p", List.of(step(1.5, 1.4, 1.45), step(1.2, 1.1, 1.15)), 0.95));
    assertThat(AdviceBars.missed(all)).isEmpty();
    assertThat(AdviceBars.looseness(all)).isBetween(1.0, 1.25);
  }

  @Test
  void aSpeedUpAboveItsBoundMissesTheBar() {
    AdviceBars bars = new AdviceBars("p", List.of(step(1.1, 1.5, 1.5, 1.51)), 1);
    assertThat(bars.missed()).hasSize(1).first().asString().endsWith("more than its bound");
    // Two runs that differ this much show nothing.
    assertThat(new AdviceBars("p", List.of(step(1.1, 1.0, 2.0)), 1).missed()).isEmpty();
  }

  @Test
  void looseBoundsMissTheBar() {
    AdviceBars bars = new AdviceBars("p", List.of(step(9, 1.5, 1.5)), 1);
    assertThat(bars.missed()).isEmpty();
    assertThat(AdviceBars.missed(List.of(bars)))
        .containsExactly("in the median, a bound is 6.00 times the measured speed-up");
  }

  @Test
  void aFinalSpeedFarFromTheBestAndRefusedAdviceMissTheBars() {
    Step refused = new Step("p=1", 1.2, List.of(1.1), List.of("p=1 did nothing: no"));
    assertThat(new AdviceBars("p", List.of(refused), 0.8).missed())
        .containsExactly(
            "p: advised, but p=1 did nothing: no", "p: ends at 0.80 of the best manual speed");
  }
}
