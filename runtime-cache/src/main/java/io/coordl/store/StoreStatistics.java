package io.coordl.store;

import io.coordl.bridge.Origin;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts one process's hits and misses for items of one form, and the memory that they use. Safe
 * for concurrent use; never blocks.
 */
public final class StoreStatistics {
  private static final long RAW = 0;

  private final @Nullable ArenaStore store;

  /** Address of the store's counter for items of this form; unused for raw items. */
  private final long counter;

  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final Map<Origin, LongAdder> bytes = new EnumMap<>(Origin.class);

  /** Creates statistics of raw items in {@code store}, which is null if none are cached. */
  public StoreStatistics(@Nullable ArenaStore store) {
    this(store, RAW);
  }

  /** Creates statistics of the items that the store counts at {@code counter}. */
  StoreStatistics(@Nullable ArenaStore store, long counter) {
    this.store = store;
    this.counter = counter;
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

  /** Counts an item that this process produced and, depending on the outcome, admitted. */
  void made(Outcome outcome, long length) {
    if (outcome == Outcome.ADMITTED && store != null) {
      store.count(counter, (int) length);
    }
    if (outcome != Outcome.HIT) {
      bytes(Origin.STORAGE, length);
    }
  }

  /** Returns the number of requests (raw items: opens; large files: blocks) with this outcome. */
  public long of(Outcome outcome) {
    return of(outcomes, outcome).sum();
  }

  /** Returns the bytes from this origin; for STORAGE, whether admitted or not. */
  public long of(Origin origin) {
    return of(bytes, origin).sum();
  }

  private static <K> LongAdder of(Map<K, LongAdder> adders, K key) {
    return Objects.requireNonNull(adders.get(key));
  }

  /** Returns the number of misses that could not be admitted. */
  public long bypassed() {
    return of(Outcome.FULL) + of(Outcome.CHANGED) + of(Outcome.UNREADABLE) + of(Outcome.BUSY);
  }

  /**
   * Returns the number of requests (raw items: opens; large files: blocks) not served from this
   * host's memory.
   */
  public long misses() {
    return of(Outcome.ADMITTED)
        + of(Outcome.PEER)
        + of(Outcome.CONFIRMED)
        + bypassed()
        + of(Outcome.SPARED)
        + of(Outcome.OBSERVED);
  }

  /** Returns the byte budget. */
  public long capacity() {
    return store == null ? 0 : store.capacity();
  }

  /**
   * Returns the bytes in use, for raw items including the index; scaled down once some were given
   * back.
   */
  public long used() {
    return store == null ? 0 : ofForm(store.taken(), ArenaDescriptor.BYTES);
  }

  /** Returns the number of cached items and blocks; scaled down once some were given back. */
  public long items() {
    return ofForm(word(ArenaDescriptor.ITEMS), 0);
  }

  /**
   * Returns the bytes of all forms that were given back: memory was short, or the store gained
   * nothing.
   */
  public long givenBack() {
    return store == null ? 0 : store.givenBack();
  }

  private long ofForm(long all, long offset) {
    long taken =
        counter == RAW
            ? all
                - word(ArenaDescriptor.DECODED_ITEMS + offset)
                - word(ArenaDescriptor.PREPARED_ITEMS + offset)
            : word(counter + offset);
    return store == null ? 0 : (long) (taken * store.keptShare());
  }

  private long word(long at) {
    return store == null ? 0 : store.word(at);
  }

  /** Returns the number of live jobs that use the store. */
  public long jobs() {
    return store == null ? 0 : store.jobs();
  }
}
