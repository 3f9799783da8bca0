package io.coordl.agent.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.pipeline.SampleVerdict;
import io.coordl.telemetry.event.EpochEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When the proof runs, and for which data sets. */
class VerdictsTest {
  private final EpochEvent totals = new EpochEvent();
  private final List<Object> proven = new ArrayList<>();
  private final List<SampleVerdict> found = new ArrayList<>();
  private final Verdicts verdicts =
      new Verdicts(
          () -> totals,
          batches -> batches instanceof List<?> all ? all.get(0) : batches,
          batches -> {
            proven.add(batches);
            return batches instanceof String ? null : new SampleVerdict("a.Data", 1, 1, "", "", "");
          },
          Runnable::run,
          found::add);

  private void trained(double prepared) {
    totals.updates = 10;
    totals.wall = 1_000;
    totals.otherTime = Math.round(1_000 * prepared);
  }

  @Test
  void aDataSetThatIsExpensiveToPrepareIsAnalysedOnce() {
    trained(0.05);
    verdicts.accept(List.of(1, "batches"));
    verdicts.accept(List.of(2, "batches of the next epoch"));
    assertThat(proven).containsExactly(List.of(1, "batches"));
    assertThat(found).hasSize(1);
  }

  @Test
  void anotherClassOfDataSetIsAnalysedToo() {
    trained(0.05);
    verdicts.accept(List.of(1));
    verdicts.accept(List.of(1L));
    assertThat(proven).hasSize(2);
  }

  /** A pass for a normalizer, for example, or a first evaluation. */
  @Test
  void anEvaluationBeforeTheFirstUpdateDoesNotCount() {
    trained(0.05);
    totals.updates = 0;
    verdicts.accept(1);
    assertThat(proven).isEmpty();
    totals.updates = 1;
    verdicts.accept(1);
    assertThat(proven).hasSize(1);
  }

  @Test
  void cheapPreparationIsNotWorthAProof() {
    trained(0.049);
    verdicts.accept(1);
    assertThat(proven).isEmpty();
  }

  @Test
  void aClassWithoutAVerdictReportsNothing() {
    trained(0.05);
    verdicts.accept("unknown");
    assertThat(proven).hasSize(1);
    assertThat(found).isEmpty();
  }
}
