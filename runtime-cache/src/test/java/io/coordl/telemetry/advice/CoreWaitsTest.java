package io.coordl.telemetry.advice;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import org.junit.jupiter.api.Test;

class CoreWaitsTest {
  private final EpochEvent figures = new EpochEvent();

  @Test
  void significantWaitsInsideStepsAreReported() {
    figures.wall = 100_000_000_000L;
    assertThat(CoreWaits.inSteps(figures)).isEmpty();
    assertThat(CoreWaits.inPreparation(figures)).isEmpty();
    figures.computeCoreWait = 10_000_000; // 0.01 %.
    assertThat(CoreWaits.inSteps(figures)).isEmpty();
    figures.computeCoreWait = 3_000_000_000L;
    figures.gcPauses = 2_000_000_000;
    figures.gcStall = 500_000_000;
    assertThat(CoreWaits.inSteps(figures)).isEqualTo("of it waiting for a core 3.00 s, GC 1.50 s");
    figures.prepCoreWait = 700_000_000;
    assertThat(CoreWaits.inPreparation(figures))
        .isEqualTo("preparing threads waited for a core 700.0 ms");
  }
}
