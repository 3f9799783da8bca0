package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.cache.ProfiledItems;
import io.coordl.event.PhaseEvent;
import org.junit.jupiter.api.Test;

class ResultsTest {
  @Test
  void whatIsPreparedAheadDoesNotMakeASampleOfAnItemAndALittle() {
    assertThat(Results.nearlyWhole(0.983)).isEqualTo(1);
    assertThat(Results.nearlyWhole(2.05)).isEqualTo(2);
  }

  @Test
  void itemsOfManySamplesAndSamplesOfOddlyManyItemsStayWhatTheyAre() {
    assertThat(Results.nearlyWhole(0.01)).isEqualTo(0.01);
    assertThat(Results.nearlyWhole(1.5)).isEqualTo(1.5);
  }

  /** What the errors of three phases make of the shares, as a share's derivatives say. */
  @Test
  void sharesAreAsUncertainAsTheirPhases() {
    try (ProfiledItems items = new ProfiledItems(path -> true, line -> {})) {
      Results results = new Results(Plans.spans(), items);
      results.measured(phase(Plan.COLD, 1_000, 100));
      results.measured(phase(Plan.CACHED, 500, 50));
      results.measured(phase(Plan.INGESTION, 200, 20));
      assertThat(results.lines())
          .contains(
              "  of an epoch: compute 20.0 % +- 2.8, prep stall 30.0 % +- 6.2, fetch stall 50.0 %"
                  + " +- 7.1, GC inside stalls 0.0 %");
    }
  }

  private static PhaseEvent phase(String name, double nanos, double error) {
    PhaseEvent phase = new PhaseEvent();
    phase.phase = name;
    phase.sampleNanos = nanos;
    phase.sampleNanosError = error;
    return phase;
  }
}
