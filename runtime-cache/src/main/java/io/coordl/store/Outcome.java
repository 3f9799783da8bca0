package io.coordl.store;

import io.coordl.bridge.Origin;

/** How {@link ItemStore#fetch} ended or, from UNREADABLE on, why it was not called. */
public enum Outcome {
  /** It was in memory. */
  HIT,
  /** It came from the memory of another host. */
  PEER,
  /** This call read it from storage, and it is kept now, here or by another host. */
  ADMITTED,
  /** A hit, but this call had to read storage to confirm it: only the change time differs. */
  CONFIRMED,
  /** Not cached: store full. This call may have read it. */
  FULL,
  /** The file does not match the key. */
  CHANGED,
  /** Another thread or job has been reading it for too long. */
  BUSY,
  /** The file could not be read. */
  UNREADABLE,
  /** It was not kept, to leave room for items in another form; see {@link KeptForms}. */
  SPARED,
  /** The program's own call reads it. */
  OBSERVED;

  /** Where the bytes came from or will come from. */
  Origin origin() {
    return switch (this) {
      case HIT -> Origin.MEMORY;
      case PEER -> Origin.PEER;
      default -> Origin.STORAGE;
    };
  }
}
