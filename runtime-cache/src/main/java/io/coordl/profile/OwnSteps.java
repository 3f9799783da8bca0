package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Measures the program's own steps, with items from storage (cold) or from memory (cached). */
final class OwnSteps extends AlternatingStage {
  /** The cached phase is abandoned if items still come from storage after this time. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * More than queues usually hold. The limit is needed because validation batches are also counted
   * as left over.
   */
  private static final int MAX_LEFT = 128;

  private final String phase;
  private final boolean fromMemory;
  private int skip;
  private long resumed;
  private long readyAtPause;

  OwnSteps(String phase, Plan plan) {
    super(
        plan,
        phase.equals(Plan.CACHED)
            ? "cached, every item from memory"
            : "cold, every item from storage",
        plan.gauge(plan.transition()));
    this.phase = phase;
    this.fromMemory = phase.equals(Plan.CACHED);
  }

  @Override
  void begin() {
    if (fromMemory) {
      reason = plan.preload();
    }
    resume();
  }

  @Override
  void resume() {
    resumed = System.nanoTime();
    plan.items.from(fromMemory ? ProfiledItems.From.MEMORY : ProfiledItems.From.STORAGE);
  }

  @Override
  void pause() {
    readyAtPause = plan.ready();
  }

  @Override
  int leftOverBatches() {
    return (int) Math.min(MAX_LEFT, plan.ready() - readyAtPause);
  }

  @Override
  Next get(BatchGet get) {
    return Next.OWN;
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    plan.countTaken();
    if (step == null) {
      // Preparation of the first batches of an epoch began during its first wait.
      skip = plan.workers;
    } else if (skip > 0) {
      skip--;
    } else if (fromMemory && step.work().storageItems > 0) {
      gauge.restart();
      if (System.nanoTime() - resumed > PATIENCE_NANOS) {
        giveUp(
            "items are still read from storage: perhaps their files stay open between samples, are"
                + " larger than 8 MiB, or are outside the directories that the agent has listed");
      }
    } else {
      gauge.add(step);
    }
  }

  @Override
  void end() {
    if (!plan.results.closeOrReport(phase, gauge, reason)) {
      if (fromMemory) {
        plan.notCached = reason;
      }
      return;
    }
    PhaseEvent work = gauge.work();
    if (work.items > 0) { // The cached phase ends later and overwrites this with a better figure.
      plan.rates.measured.decodeNanos = (double) work.decodeTime / work.items;
    }
    String note = "";
    if (work.items == 0) {
      note = "no item was read while samples were loaded";
    } else if (!fromMemory && !plan.items.access().equals("direct")) {
      note = plan.items.access();
    }
    plan.results.measured(gauge.event(phase, plan.workers, note));
  }
}
