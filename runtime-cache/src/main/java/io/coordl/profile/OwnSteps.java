package io.coordl.profile;

import io.coordl.cache.ProfiledItems;
import io.coordl.event.PhaseEvent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The program's own steps, with items from where the phase wants them: cold or cached. */
final class OwnSteps extends Turn {
  /** After so long with items from storage, the cached phase is given up. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** More than any queue; of validations in between, too, batches seem to be left. */
  private static final int MOST_LEFT = 128;

  private final String phase;
  private final boolean memory;
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
    this.memory = phase.equals(Plan.CACHED);
  }

  @Override
  void begin() {
    if (memory) {
      reason = plan.preload();
    }
    resume();
  }

  @Override
  void resume() {
    resumed = System.nanoTime();
    plan.items.from(memory ? ProfiledItems.From.MEMORY : ProfiledItems.From.STORAGE);
  }

  @Override
  void pause() {
    readyAtPause = plan.ready();
  }

  @Override
  int left() {
    return (int) Math.min(MOST_LEFT, plan.ready() - readyAtPause);
  }

  @Override
  Next get(BatchGet get) {
    return Next.OWN;
  }

  @Override
  void took(BatchGet get, Object batch, @Nullable Step step) {
    plan.tookOne();
    if (step == null) {
      // The first batches of an epoch were begun all at once, during that first wait.
      skip = plan.workers;
    } else if (skip > 0) {
      skip--;
    } else if (memory && step.work().storageItems > 0) {
      gauge.restart();
      if (System.nanoTime() - resumed > PATIENCE_NANOS) {
        giveUp(
            "items are read from storage still: files that stay open from sample to sample, that"
                + " are larger than 8 MiB, or that are no files of the directories seen");
      }
    } else {
      gauge.add(step);
    }
  }

  @Override
  void end() {
    if (!plan.results.has(phase, gauge, reason)) {
      if (memory) {
        plan.notCached = reason;
      }
      return;
    }
    PhaseEvent work = gauge.work();
    if (work.items > 0) { // The cached phase, which ends later, knows it better.
      plan.rates.measured.decodeNanos = (double) work.decodeTime / work.items;
    }
    String note = "";
    if (work.items == 0) {
      note = "no item was read while samples were loaded";
    } else if (!memory && !plan.items.access().equals("direct")) {
      note = plan.items.access();
    }
    plan.results.measured(gauge.event(phase, plan.workers, note));
  }
}
