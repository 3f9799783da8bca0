package io.coordl.cache;

import io.coordl.bridge.Origin;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What one process has had of the items of one form, and what all of these take. Safe for
 * concurrent use, never blocks.
 */
public final class StoreStatistics {
  private static final long RAW = 0;

  private final @Nullable ArenaStore store;

  /** The word of the store that counts items of this form, but for raw ones. */
  private final long counted;

  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final Map<Origin, LongAdder> bytes = new EnumMap<>(Origin.class);

  /** Of raw items in {@code store}, null if they are kept nowhere. */
  public StoreStatistics(@Nullable ArenaStore store) {
    this(store, RAW);
  }

  /** Of the items that the word {@code counted} of the store counts. */
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

  /** Counts an item that this process has made, and, if it is so, has put into the store. */
  void made(Outcome outcome, long length) {
    if (outcome == Outcome.ADMITTED && store != null) {
      store.count(counted, (int) length);
    }
    if (outcome != Outcome.HIT) {
      bytes(Origin.STORAGE, length);
    }
  }

  /** Openings (of large files: blocks) that ended so. */
  public long of(Outcome outcome) {
    return of(outcomes, outcome).sum();
  }

  /** Bytes that were had from there; STORAGE: in order to keep them, or instead. */
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

  /** Openings (of large files: blocks) not answered from memory. */
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

  /** Bytes in use, with the index for raw items; their share, once some were given back. */
  public long used() {
    return store == null ? 0 : ofForm(store.taken(), ArenaDescriptor.BYTES);
  }

  /** Items and blocks kept; likewise. */
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
