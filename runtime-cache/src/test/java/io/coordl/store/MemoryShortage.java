package io.coordl.store;

/** Simulates a machine that is, or is not, short of memory. */
public final class MemoryShortage {
  private MemoryShortage() {}

  /** Makes the store check its memory now, and sets the result of this and all later checks. */
  public static void set(ArenaStore store, boolean isShort) {
    store.measureBy(before -> isShort);
  }
}
