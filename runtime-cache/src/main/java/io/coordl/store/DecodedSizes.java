package io.coordl.store;

import io.coordl.bridge.Origin;
import io.coordl.items.ItemFilter;

/**
 * Measures how many bytes items would take with {@code decoded=share}, from the items that the
 * program decodes while this learns. Keeps none of them. Safe for concurrent use.
 */
public final class DecodedSizes {
  private final DecodedStore store;
  private volatile boolean learning;

  /** Starts without items and does not learn yet. */
  public DecodedSizes(ItemFilter filter) {
    ArenaStore nowhere = ArenaStore.unopened("", sentence -> {});
    this.store = new DecodedStore(nowhere, path -> learning && filter.isItem(path));
  }

  /** The store that decoding calls use; it knows no item while this does not learn. */
  public DecodedStore store() {
    return store;
  }

  public void learn(boolean now) {
    learning = now;
  }

  /** Items decoded, repetitions included. */
  public long items() {
    return store.statistics().misses();
  }

  /** Mean bytes of an item, 0 if none was seen. */
  public long meanBytes() {
    return store.statistics().of(Origin.STORAGE) / Math.max(1, items());
  }
}
