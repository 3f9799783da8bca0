package io.coordl.store;

import io.coordl.bridge.Origin;

/**
 * How {@link ItemStore#fetch} ended. {@link #UNREADABLE} and the constants after it say why it was
 * not called, or why its result is not used.
 */
public enum Outcome {
  /** It was in memory. */
  HIT,
  /** It came from another host's memory, or from Redis. */
  PEER,
  /** This call read it from storage, and this host, another host or Redis admitted it. */
  ADMITTED,
  /** A hit that this call confirmed by reading storage, because the change time differs. */
  CONFIRMED,
  /** Not cached: store full. This call may have read it. */
  FULL,
  /** The file does not match the key. */
  CHANGED,
  /** Another thread or job is reading it, and this call did not wait any longer. */
  BUSY,
  /** The file could not be read. */
  UNREADABLE,
  /**
   * Not cached: room is left for items in another form ({@link KeptForms}), or a sample cannot be
   * cached.
   */
  SPARED,
  /** The program's own call reads it. */
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
