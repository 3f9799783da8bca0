package io.coordl.store;

/** Sets whether a store sees the machine as short of memory. */
public final class MemoryShortage {
  private MemoryShortage() {}

  /** Sets the store's future measurements. */
  public static void set(ArenaStore store, boolean isShort) {
    store.measureBy(before -> isShort);
  }
}
