package io.coordl.cache;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What one process had of a store. Safe for concurrent use, never blocks. */
final class StoreCounters {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder full = new LongAdder();
  private final LongAdder changed = new LongAdder();
  private final LongAdder unreadable = new LongAdder();
  private final LongAdder busy = new LongAdder();
  private final LongAdder hitBytes = new LongAdder();
  private final LongAdder missBytes = new LongAdder();

  void hit() {
    hits.increment();
  }

  void hitBytes(long bytes) {
    hitBytes.add(bytes);
  }

  void missBytes(long bytes) {
    missBytes.add(bytes);
  }

  /** Counts an opening or a block by how it was answered. */
  void count(ArenaStore.Outcome outcome) {
    if (outcome == ArenaStore.Outcome.HIT) {
      hits.increment();
      return;
    }
    misses.increment();
    switch (outcome) {
      case ADMITTED -> admitted.increment();
      case FULL -> full.increment();
      case CHANGED -> changed.increment();
      default -> busy.increment();
    }
  }

  void observed() {
    misses.increment();
  }

  void unreadable() {
    misses.increment();
    unreadable.increment();
  }

  StoreStatistics snapshot(@Nullable ArenaStore store) {
    return new StoreStatistics(
        store == null ? 0 : store.capacity(),
        store == null ? 0 : store.used(),
        store == null ? 0 : store.items(),
        hits.sum(),
        misses.sum(),
        admitted.sum(),
        full.sum() + changed.sum() + unreadable.sum() + busy.sum(),
        full.sum(),
        changed.sum(),
        unreadable.sum(),
        busy.sum(),
        store == null ? 0 : store.corrupt(),
        hitBytes.sum(),
        missBytes.sum(),
        store == null ? 0 : store.jobs());
  }
}
