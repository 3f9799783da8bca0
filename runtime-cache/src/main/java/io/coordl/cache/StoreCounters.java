package io.coordl.cache;

import io.coordl.bridge.Origin;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What one process had of a store. Safe for concurrent use, never blocks. */
final class StoreCounters {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder peer = new LongAdder();
  private final LongAdder full = new LongAdder();
  private final LongAdder changed = new LongAdder();
  private final LongAdder unreadable = new LongAdder();
  private final LongAdder busy = new LongAdder();
  private final LongAdder spared = new LongAdder();
  private final LongAdder hitBytes = new LongAdder();
  private final LongAdder missBytes = new LongAdder();
  private final LongAdder peerBytes = new LongAdder();

  void hit() {
    hits.increment();
  }

  void hitBytes(long bytes) {
    hitBytes.add(bytes);
  }

  void missBytes(long bytes) {
    missBytes.add(bytes);
  }

  void peerBytes(long bytes) {
    peerBytes.add(bytes);
  }

  void bytes(Origin origin, long bytes) {
    switch (origin) {
      case MEMORY -> hitBytes(bytes);
      case PEER -> peerBytes(bytes);
      case STORAGE -> missBytes(bytes);
    }
  }

  /** Counts an opening or a block by how it was answered. */
  void count(Outcome outcome) {
    if (outcome == Outcome.HIT) {
      hits.increment();
      return;
    }
    misses.increment();
    switch (outcome) {
      case ADMITTED -> admitted.increment();
      case PEER -> peer.increment();
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

  /** Counts an opening that was not to be kept, for the sake of items in the other form. */
  void spared() {
    misses.increment();
    spared.increment();
  }

  /** State of the raw items of an arena, to which its index is counted. */
  StoreStatistics ofRaw(@Nullable ArenaStore store) {
    return store == null
        ? snapshot(null, 0, 0)
        : snapshot(
            store, store.used() - store.decodedBytes(), store.items() - store.decodedItems());
  }

  /** State of the decoded items of an arena. */
  StoreStatistics ofDecoded(ArenaStore store) {
    return snapshot(store, store.decodedBytes(), store.decodedItems());
  }

  private StoreStatistics snapshot(@Nullable ArenaStore store, long used, long items) {
    return new StoreStatistics(
        store == null ? 0 : store.capacity(),
        used,
        items,
        hits.sum(),
        misses.sum(),
        admitted.sum(),
        peer.sum(),
        full.sum() + changed.sum() + unreadable.sum() + busy.sum(),
        full.sum(),
        changed.sum(),
        unreadable.sum(),
        busy.sum(),
        spared.sum(),
        store == null ? 0 : store.corrupt(),
        hitBytes.sum(),
        missBytes.sum(),
        peerBytes.sum(),
        store == null ? 0 : store.jobs());
  }
}
