package io.coordl.store;

import io.coordl.bridge.Origin;
import io.coordl.items.ItemFilter;

/**
 * Estimates how many bytes items would take with {@code decoded=share}, from the items that the
 * program decodes while learning is on. Caches none of them. Safe for concurrent use.
 */
public final class DecodedSizes {
  private final DecodedStore store;
  private volatile boolean learning;

  /** Creates an instance with learning off. */
  public DecodedSizes(ItemFilter filter) {
    ArenaStore nowhere = ArenaStore.unopened("", sentence -> {});
    this.store = new DecodedStore(nowhere, path -> learning && filter.isItem(path));
  }

  /** Returns the store for decoding calls; it has no items while learning is off. */
  public DecodedStore store() {
    return store;
  }

  public void learn(boolean now) {
    learning = now;
  }

  /** Returns the number of decoded items, including repetitions. */
  public long items() {
    return store.statistics().misses();
  }

  /** Returns the mean decoded size of an item in bytes; 0 if none was decoded. */
  public long meanBytes() {
    return store.statistics().of(Origin.STORAGE) / Math.max(1, items());
  }
}
