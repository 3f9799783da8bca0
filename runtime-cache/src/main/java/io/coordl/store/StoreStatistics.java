package io.coordl.store;

import io.coordl.bridge.Origin;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts one process's hits and misses for items of one form, and the memory that all of them take.
 * Safe for concurrent use; never blocks.
 */
public final class StoreStatistics {
  private static final long RAW = 0;

  private final @Nullable ArenaStore store;

  /** The word of the store that counts items of this form; unused for raw items. */
  private final long counted;

  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final Map<Origin, LongAdder> bytes = new EnumMap<>(Origin.class);

  /** For raw items in {@code store}; null if they are not kept. */
  public StoreStatistics(@Nullable ArenaStore store) {
    this(store, RAW);
  }

  /** For the items that the word {@code counted} of the store counts. */
  StoreStatistics(@Nullable ArenaStore store, long counted) {
    this.store = store;
    this.counted = counted;
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, new LongAdder());
    }
    for (Origin origin : Origin.values()) {
      bytes.put(origin, new LongAdder());
    }
  }

  public void count(Outcome outcome, long times) {
    of(outcomes, outcome).add(times);
  }

  void count(Outcome outcome) {
    count(outcome, 1);
  }

  void bytes(Origin origin, long count) {
    of(bytes, origin).add(count);
  }

  /**
   * Counts an item that this process has made and, depending on the outcome, put into the store.
   */
  void made(Outcome outcome, long length) {
    if (outcome == Outcome.ADMITTED && store != null) {
      store.count(counted, (int) length);
    }
    if (outcome != Outcome.HIT) {
      bytes(Origin.STORAGE, length);
    }
  }

  /** Opens (for large files: blocks) with this outcome. */
  public long of(Outcome outcome) {
    return of(outcomes, outcome).sum();
  }

  /** Bytes from this origin; for STORAGE, whether they were kept or not. */
  public long of(Origin origin) {
    return of(bytes, origin).sum();
  }

  private static <K> LongAdder of(Map<K, LongAdder> adders, K key) {
    return Objects.requireNonNull(adders.get(key));
  }

  /** Misses that could not be kept. */
  public long bypassed() {
    return of(Outcome.FULL) + of(Outcome.CHANGED) + of(Outcome.UNREADABLE) + of(Outcome.BUSY);
  }

  /** Opens (for large files: blocks) not answered from memory. */
  public long misses() {
    return of(Outcome.ADMITTED)
        + of(Outcome.PEER)
        + of(Outcome.CONFIRMED)
        + bypassed()
        + of(Outcome.SPARED)
        + of(Outcome.OBSERVED);
  }

  /** Byte budget. */
  public long capacity() {
    return store == null ? 0 : store.capacity();
  }

  /** Bytes in use, for raw items with the index; scaled down once some were given back. */
  public long used() {
    return store == null ? 0 : ofForm(store.taken(), ArenaDescriptor.BYTES);
  }

  /** Items and blocks kept; also scaled down once some were given back. */
  public long items() {
    return ofForm(word(ArenaDescriptor.ITEMS), 0);
  }

  /** Bytes of all forms that were given back: memory was short, or the store gained nothing. */
  public long givenBack() {
    return store == null ? 0 : store.givenBack();
  }

  private long ofForm(long all, long behind) {
    long taken =
        counted == RAW
            ? all
                - word(ArenaDescriptor.DECODED_ITEMS + behind)
                - word(ArenaDescriptor.PREPARED_ITEMS + behind)
            : word(counted + behind);
    return store == null ? 0 : (long) (taken * store.keptShare());
  }

  private long word(long at) {
    return store == null ? 0 : store.word(at);
  }

  /** Live jobs that use the store. */
  public long jobs() {
    return store == null ? 0 : store.jobs();
  }
}
