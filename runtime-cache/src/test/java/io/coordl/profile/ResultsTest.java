package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ResultsTest {
  @Test
  void itemsPreparedAheadDoNotSkewItemsPerSample() {
    assertThat(Results.nearlyWhole(0.983)).isEqualTo(1);
    assertThat(Results.nearlyWhole(2.05)).isEqualTo(2);
  }

  @Test
  void unusualItemsPerSampleAreKept() {
    assertThat(Results.nearlyWhole(0.01)).isEqualTo(0.01);
    assertThat(Results.nearlyWhole(1.5)).isEqualTo(1.5);
  }

  /** Waits include GC pauses, which are subtracted, as in {@code coordl diff}. */
  @Test
  void gcPausesInsideWaitsAreNotPrepOrFetchStalls() {
    try (ProfiledItems items = new ProfiledItems(path -> true, line -> {})) {
      Results results = new Results(Plans.spans(), items);
      results.measured(phase(Plan.COLD, 1_000, 120));
      results.measured(phase(Plan.CACHED, 500, 50));
      results.measured(phase(Plan.INGESTION, 200, 0));
      assertThat(results.lines())
          .contains(
              "  of an epoch: compute 20.0 %, prep stall 25.0 %, fetch stall 43.0 %, GC stall"
                  + " 12.0 %; coordl diff shows how certain that is");
    }
  }

  @Test
  void theStepsAProfileStillNeedsAreReported() {
    try (ProfiledItems items = new ProfiledItems(path -> true, line -> {})) {
      Set<String> phases = Set.of(Plan.COLD, Plan.CACHED, Plan.INGESTION);
      AtomicLong now = new AtomicLong();
      Plan plan = new Plan(phases, 0, Plans.spans(), items, null, line -> {}, now::get);
      PhaseEvent totals = new PhaseEvent();
      assertThat(plan.toGo(totals)).isEmpty();
      totals.batches = 40;
      totals.wall = 2_000_000_000; // 50 ms a step: two seconds are 40 steps.
      assertThat(plan.toGo(totals))
          // Three phases and preparation alone, and 5 s of warm-up.
          .isEqualTo(
              "; let the program train for at least 260 more steps (13 s), at most 5,000 (4 min"
                  + " 10 s) if times are not steady, or profile fewer phases");
      plan.warmedUp(20, true);
      plan.results.measured(phase(Plan.COLD, 1, 0));
      totals.wall = 40_000_000_000L; // 1 s a step; the minimum is 20 steps.
      now.set(100_000_000_000L);
      assertThat(plan.toGo(totals))
          .contains("at least 60 more steps (1 min 0 s), at most 150 (2 min 30 s)");
      now.set(240_000_000_000L); // The limit ends phases whose steps are too few to be steady.
      assertThat(plan.toGo(totals)).contains("at least 60 more steps (1 min 0 s), or profile");
    }
  }

  private static PhaseEvent phase(String name, long nanos, long pause) {
    PhaseEvent phase = new PhaseEvent();
    phase.phase = name;
    phase.samples = 10;
    phase.sampleNanos = nanos;
    phase.gcStall = 10 * pause;
    return phase;
  }
}
