package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.concurrent.TimeUnit;

/**
 * Measures fetching alone, on the agent's threads: first with as many as the program uses for
 * preparation, then with one.
 */
final class StorageAlone extends Stage {
  private static final long MAX_BATCH_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final boolean asPhase;

  /**
   * Creates the stage, which also measures the host's rates.
   *
   * @param asPhase whether to report fetching as a phase, too
   */
  StorageAlone(Plan plan, boolean asPhase) {
    super(plan, "fetch alone, and the rates of this host");
    this.asPhase = asPhase;
  }

  @Override
  void begin() {
    // The program's own threads prepare ahead, and would use the storage being measured.
    if (plan.workers > 0) {
      plan.gate.close(MAX_BATCH_NANOS);
    }
    plan.items.from(ProfiledItems.From.PROGRAM);
  }

  @Override
  void end() {
    plan.gate.open();
  }

  @Override
  Next get(BatchGet get) {
    int threads = Math.max(1, plan.workers);
    HostRates.Reading reading = plan.rates.storage(threads);
    // A single thread does not saturate storage: this is the latency of an uncontended fetch.
    HostRates.Reading alone =
        asPhase && reading != null && threads > 1 ? plan.rates.storage(1) : null;
    plan.rates.memory(threads);
    if (reading != null) {
      plan.rates.storageRate(reading);
    }
    if (asPhase) {
      if (reading == null) {
        plan.results.notMeasured(Plan.FETCH, "fewer than five items could be read");
      } else {
        report(reading);
      }
      if (alone != null) {
        report(alone);
      }
    }
    return Next.DONE;
  }

  private void report(HostRates.Reading reading) {
    double each = plan.results.itemsPerSample();
    Estimate perItem = reading.perItem();
    PhaseEvent event = new PhaseEvent();
    event.phase = Plan.FETCH;
    event.workers = reading.threads();
    event.steps = reading.items();
    event.samples = Math.round(reading.items() / each);
    event.wall = Math.round(perItem.nanos() * reading.items());
    event.sampleNanos = perItem.nanos() * each;
    event.sampleNanosError = perItem.error() * each;
    event.fetchTime = event.wall * reading.threads();
    event.items = reading.items();
    event.storageBytes = reading.bytes();
    event.steady = perItem.relativeError() <= 0.01;
    String access = plan.items.access();
    event.note = access.equals("direct") ? "" : access;
    plan.results.measured(event);
  }
}
