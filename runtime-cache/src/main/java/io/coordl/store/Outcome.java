package io.coordl.store;

import io.coordl.bridge.Origin;

/**
 * Result of a request for an item. {@link #UNREADABLE} and the constants after it mean that {@link
 * ItemStore#fetch} was not called, or that its result is not used.
 */
public enum Outcome {
  /** The item was in memory. */
  HIT,
  /** The item came from another host's memory, or from Redis. */
  PEER,
  /** This call read the item from storage, and this host, another host or Redis admitted it. */
  ADMITTED,
  /** A hit that this call confirmed by reading storage, because the change time differs. */
  CONFIRMED,
  /** Not cached: store full. This call may have read the item. */
  FULL,
  /** The file does not match the key. */
  CHANGED,
  /** Another thread or job is reading the item, and this call did not wait any longer. */
  BUSY,
  /** The file could not be read. */
  UNREADABLE,
  /**
   * Not cached: room is left for items in another form ({@link KeptForms}), or a sample cannot be
   * cached.
   */
  SPARED,
  /** The program's own call reads the item. */
  OBSERVED;

  /** Returns where the bytes came from or will come from. */
  Origin origin() {
    return switch (this) {
      case HIT -> Origin.MEMORY;
      case PEER -> Origin.PEER;
      default -> Origin.STORAGE;
    };
  }
}
