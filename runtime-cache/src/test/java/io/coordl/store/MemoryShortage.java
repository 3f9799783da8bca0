package io.coordl.store;

/** Simulates a machine that is, or is not, short of memory. */
public final class MemoryShortage {
  private MemoryShortage() {}

  /** Sets the result of a new memory check of the store, and of all further ones. */
  public static void set(ArenaStore store, boolean isShort) {
    store.measureBy(before -> isShort);
  }
}
