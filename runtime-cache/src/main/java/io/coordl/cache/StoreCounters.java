package io.coordl.cache;

import io.coordl.bridge.Origin;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What one process had of a store. Safe for concurrent use, never blocks. */
final class StoreCounters {
  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final Map<Origin, LongAdder> bytes = new EnumMap<>(Origin.class);
  private final LongAdder observed = new LongAdder();
  private final LongAdder unreadable = new LongAdder();
  private final LongAdder spared = new LongAdder();

  StoreCounters() {
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, new LongAdder());
    }
    for (Origin origin : Origin.values()) {
      bytes.put(origin, new LongAdder());
    }
  }

  /** Counts an opening or a block by how it was answered. */
  void count(Outcome outcome) {
    of(outcomes, outcome).increment();
  }

  /** Counts bytes by where they came from. */
  void bytes(Origin origin, long count) {
    of(bytes, origin).add(count);
  }

  /** Counts an opening that the program's own call answers. */
  void observed() {
    observed.increment();
  }

  /** Counts an opening that failed. */
  void unreadable() {
    unreadable.increment();
  }

  /** Counts an opening that was not to be kept, for the sake of items in the other form. */
  void spared() {
    spared.increment();
  }

  /** State of the raw items of an arena, to which its index is counted. */
  StoreStatistics ofRaw(@Nullable ArenaStore store) {
    return store == null
        ? snapshot(null, 0, 0)
        : snapshot(
            store,
            store.used() - store.decodedBytes() - store.preparedBytes(),
            store.items() - store.decodedItems() - store.preparedItems());
  }

  /** State of the decoded items of an arena. */
  StoreStatistics ofDecoded(ArenaStore store) {
    return snapshot(store, store.decodedBytes(), store.decodedItems());
  }

  /** State of the prepared samples of an arena. */
  StoreStatistics ofPrepared(ArenaStore store) {
    return snapshot(store, store.preparedBytes(), store.preparedItems());
  }

  private StoreStatistics snapshot(@Nullable ArenaStore store, long used, long items) {
    long admitted = sum(Outcome.ADMITTED);
    long peer = sum(Outcome.PEER);
    long full = sum(Outcome.FULL);
    long changed = sum(Outcome.CHANGED);
    long busy = sum(Outcome.BUSY);
    long bypassed = full + changed + unreadable.sum() + busy;
    return new StoreStatistics(
        store == null ? 0 : store.capacity(),
        used,
        items,
        sum(Outcome.HIT),
        admitted + peer + bypassed + spared.sum() + observed.sum(),
        admitted,
        peer,
        bypassed,
        full,
        changed,
        unreadable.sum(),
        busy,
        spared.sum(),
        store == null ? 0 : store.corrupt(),
        of(bytes, Origin.MEMORY).sum(),
        of(bytes, Origin.STORAGE).sum(),
        of(bytes, Origin.PEER).sum(),
        store == null ? 0 : store.jobs());
  }

  private long sum(Outcome outcome) {
    return of(outcomes, outcome).sum();
  }

  private static <K> LongAdder of(Map<K, LongAdder> adders, K key) {
    return Objects.requireNonNull(adders.get(key));
  }
}
