package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.SpanKind;
import io.coordl.profile.Profile;
import io.coordl.store.ProfiledItems;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A profile runs fewer epochs than the program plans. */
class ProfiledTotalsTest {
  private final JobMonitor job =
      new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());

  private void epoch(Object batches) {
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.TAKE, batches), new Object());
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.UPDATE, null), null);
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.ASK, batches), false);
  }

  @Test
  void aProfileReportsNoRemainingEpochs() {
    long fit = job.figures().spans().enter(SpanKind.FIT, 1_000);
    epoch("data");
    epoch("data");
    assertThat(job.figures().totals().plannedEpochs).isEqualTo(1_000);
    assertThat(job.figures().totals().timeLeft).isPositive();
    try (ProfiledItems items = new ProfiledItems(path -> true, line -> {})) {
      job.profile(
          new Profile(
              Set.of("ingestion"),
              1,
              job.figures().spans(),
              items,
              null,
              line -> {},
              () -> {},
              System::nanoTime),
          () -> {});
      assertThat(job.figures().totals().plannedEpochs).isZero();
      assertThat(job.figures().totals().timeLeft).isZero();
    }
    job.figures().spans().exit(fit, null);
  }
}
