package io.coordl.store;

import io.coordl.bridge.Origin;

/**
 * How {@link ItemStore#fetch} ended or, from UNREADABLE on, why it was not called or its result is
 * not used.
 */
public enum Outcome {
  /** It was in memory. */
  HIT,
  /** It came from the memory of another host. */
  PEER,
  /** This call read it from storage, and this or another host admitted it. */
  ADMITTED,
  /** A hit that this call confirmed by reading storage, because the change time differs. */
  CONFIRMED,
  /** Not cached: store full. This call may have read it. */
  FULL,
  /** The file does not match the key. */
  CHANGED,
  /** Another thread or job has been reading it for too long. */
  BUSY,
  /** The file could not be read. */
  UNREADABLE,
  /** Not cached: room is left for items in another form; see {@link KeptForms}. */
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
