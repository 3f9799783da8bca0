package io.coordl.profile;

import io.coordl.cache.ProfiledItems;
import io.coordl.event.PhaseEvent;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Fetching alone, by threads of the agent: as many as prepare in the program. */
final class StorageAlone extends Stage {
  private static final long LONGEST_BATCH_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Plan plan;
  private final boolean tell;

  /**
   * Measures the host's rates.
   *
   * @param tell whether to tell them as a phase, too
   */
  StorageAlone(Plan plan, boolean tell) {
    this.plan = plan;
    this.tell = tell;
  }

  @Override
  String name() {
    return "fetch alone, and the rates of this host";
  }

  @Override
  void begin() {
    // The program's own threads prepare ahead, from the storage that is to be measured.
    if (plan.workers() > 0) {
      plan.gate().close(LONGEST_BATCH_NANOS);
    }
    plan.items().from(ProfiledItems.From.PROGRAM);
  }

  @Override
  void end() {
    plan.gate().open();
  }

  @Override
  Next get(BatchGet get) {
    int threads = Math.max(1, plan.workers());
    AtomicLong bytes = new AtomicLong();
    AtomicLong items = new AtomicLong();
    Estimate perItem = plan.rates().storage(threads, bytes, items);
    plan.rates().memory(threads);
    if (tell) {
      if (perItem == null) {
        plan.results().notMeasured(Plan.FETCH, "no item could be read");
      } else {
        tell(perItem, threads, bytes.get(), items.get());
      }
    }
    return Next.DONE;
  }

  private void tell(Estimate perItem, int threads, long bytes, long items) {
    double each = plan.results().itemsPerSample();
    PhaseEvent event = new PhaseEvent();
    event.phase = Plan.FETCH;
    event.workers = threads;
    event.steps = items;
    event.samples = Math.round(items / each);
    event.wall = Math.round(perItem.nanos() * items);
    event.sampleNanos = perItem.nanos() * each;
    event.sampleNanosError = perItem.error() * each;
    event.fetchTime = event.wall * threads;
    event.items = items;
    event.storageBytes = bytes;
    event.steady = perItem.relativeError() <= 0.01;
    String access = plan.items().access();
    event.note = access.equals("direct") ? "" : access;
    plan.results().measured(event, Work.NONE);
  }
}
