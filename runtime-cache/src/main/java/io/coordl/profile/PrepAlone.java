package io.coordl.profile;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.concurrent.TimeUnit;

/**
 * Measures preparation alone: when the program requests a batch, this takes batches from its
 * iterator and drops them, with items from memory and no steps in between. The program gets the
 * last batch of the epoch, so that its loop ends as usual; the measurement continues in the next
 * epoch.
 */
final class PrepAlone extends Stage {
  /** Epochs after which the measurement is abandoned if there are too few usable steps. */
  private static final int MAX_EPOCHS = 8;

  /** Time limit of the measurement: in short epochs, few batches can be used. */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** Time limit while there are too few usable steps. */
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final int threads;
  private final Gauge gauge;
  private long begun;
  private int skip;
  private int epochs;
  private long arrived;
  private long waited;
  private String reason = "";

  /**
   * Measures preparation by {@code threads} of the program's threads; by the training thread if 0.
   */
  PrepAlone(Plan plan, int threads) {
    super(
        plan,
        threads == 0
            ? "prep alone, on the training thread"
            : "prep alone, by " + threads + " of " + plan.workers + " threads");
    this.threads = threads;
    this.gauge = plan.gauge(0);
  }

  @Override
  void begin() {
    begun = System.nanoTime();
    plan.items.from(ProfiledItems.From.MEMORY); // The previous phase may have been the cold one.
    plan.gate.narrow(threads == 0 ? Integer.MAX_VALUE : threads);
    skip = plan.transition();
    if (!plan.notCached.isEmpty()) {
      reason = "the items are not in memory";
    }
  }

  @Override
  Next get(BatchGet get) {
    if (!reason.isEmpty()) {
      return Next.DONE;
    }
    // Batches prepared in this call are dropped, so the training thread does not wait for them.
    long token = Spans.enter(SpanKind.PRODUCER, null);
    try {
      return take(get);
    } finally {
      Spans.exit(token, null);
    }
  }

  private Next take(BatchGet get) {
    if (get.inHand == null) {
      get.advance();
      skip = Math.max(skip, plan.transition());
      arrived = System.nanoTime();
    }
    PhaseEvent before = Gauge.reading(plan.spans);
    while (!gauge.isDone()) {
      long start = System.nanoTime();
      if (start - begun >= (gauge.hasEnoughSteps() ? MAX_NANOS : PATIENCE_NANOS)
          || plan.isLateAlone(gauge.hasEnoughSteps())) {
        return Next.DONE;
      }
      if (!get.hasMore()) {
        if (++epochs >= MAX_EPOCHS && !gauge.hasEnoughSteps()) {
          reason = "an epoch has too few batches";
        }
        return Next.ANSWER;
      }
      long hasNextNanos = System.nanoTime() - start;
      Object dropped = get.inHand;
      if (dropped != null) {
        get.batches.drop(dropped);
      }
      long nextNanos = hasNextNanos + get.advance();
      long now = System.nanoTime();
      // Other threads keep preparing while this code runs; the training thread cannot.
      long nanos = threads > 0 ? now - arrived : nextNanos;
      arrived = now;
      PhaseEvent after = Gauge.reading(plan.spans);
      Object batch = get.inHand;
      PhaseEvent work = after.since(before);
      before = after;
      if (skip > 0) {
        skip--;
      } else if (batch != null) {
        if (work.storageItems > 0) {
          gauge.restart();
          waited = 0;
        } else {
          gauge.add(new Step(get.batches.samples(batch), nanos, work));
          waited += nanos;
        }
      }
    }
    return Next.DONE;
  }

  @Override
  void end() {
    plan.gate.open();
    if (!plan.results.closeOrReport(Plan.PREP, gauge, reason)) {
      return;
    }
    PhaseEvent event = gauge.event(Plan.PREP, threads, "");
    if (threads > 0) {
      // Taking a batch looks like preparation, though the thread waits for others.
      event.otherTime = Math.max(0, event.otherTime - Math.min(waited, event.wall));
    }
    plan.results.measured(event);
  }
}
