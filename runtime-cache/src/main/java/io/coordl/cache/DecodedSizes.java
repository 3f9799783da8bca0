package io.coordl.cache;

import io.coordl.bridge.Origin;

/**
 * How many bytes items take in the form in which {@code decoded=share} would keep them: those that
 * the program decodes while this learns. Keeps none of them. Safe for concurrent use.
 */
public final class DecodedSizes {
  private final DecodedStore store;
  private volatile boolean learning;

  /** Knows no item, and does not learn. */
  public DecodedSizes(ItemFilter filter) {
    ArenaStore nowhere = ArenaStore.unopened("", sentence -> {});
    this.store = new DecodedStore(nowhere, path -> learning && filter.isItem(path));
  }

  /** For those who decode; it knows no item while this does not learn. */
  public DecodedStore store() {
    return store;
  }

  public void learn(boolean now) {
    learning = now;
  }

  /** Items seen, each as often as it was decoded. */
  public long items() {
    return store.statistics().misses();
  }

  /** Mean bytes of an item, 0 if none was seen. */
  public long meanBytes() {
    return store.statistics().of(Origin.STORAGE) / Math.max(1, items());
  }
}
