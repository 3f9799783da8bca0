package io.coordl.store;

/** Simulates a machine that is, or is not, short of memory. */
public final class MemoryShortage {
  private MemoryShortage() {}

  /** Sets the store's future measurements. */
  public static void set(ArenaStore store, boolean isShort) {
    store.measureBy(before -> isShort);
  }
}
