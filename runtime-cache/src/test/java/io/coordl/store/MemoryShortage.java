package io.coordl.store;

/** A machine that is short of memory, or is no more, as a store measures it. */
public final class MemoryShortage {
  private MemoryShortage() {}

  /** What the store measures from now on. */
  public static void set(ArenaStore store, boolean isShort) {
    store.measureBy(before -> isShort);
  }
}
