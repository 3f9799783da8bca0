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

  /** Openings that the program's own call answers. */
  final LongAdder observed = new LongAdder();

  final LongAdder unreadable = new LongAdder();

  /** Openings that were not to be kept, for the sake of items in the other form. */
  final LongAdder spared = new LongAdder();

  StoreCounters() {
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, new LongAdder());
    }
    for (Origin origin : Origin.values()) {
      bytes.put(origin, new LongAdder());
    }
  }

  void count(Outcome outcome) {
    count(outcome, 1);
  }

  void count(Outcome outcome, int times) {
    of(outcomes, outcome).add(times);
  }

  void bytes(Origin origin, long count) {
    of(bytes, origin).add(count);
  }

  /** State of the raw items of an arena, to which its index is counted. */
  StoreStatistics ofRaw(@Nullable ArenaStore store) {
    return store == null
        ? snapshot(null, 0, 0)
        : snapshot(
            store,
            store.used()
                - store.word(ArenaDescriptor.DECODED_BYTES)
                - store.word(ArenaDescriptor.PREPARED_BYTES),
            store.items()
                - store.word(ArenaDescriptor.DECODED_ITEMS)
                - store.word(ArenaDescriptor.PREPARED_ITEMS));
  }

  StoreStatistics ofDecoded(ArenaStore store) {
    return snapshot(
        store,
        store.word(ArenaDescriptor.DECODED_BYTES),
        store.word(ArenaDescriptor.DECODED_ITEMS));
  }

  StoreStatistics ofPrepared(ArenaStore store) {
    return snapshot(
        store,
        store.word(ArenaDescriptor.PREPARED_BYTES),
        store.word(ArenaDescriptor.PREPARED_ITEMS));
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
