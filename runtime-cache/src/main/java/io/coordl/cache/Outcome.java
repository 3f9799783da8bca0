package io.coordl.cache;

import io.coordl.bridge.Origin;

/** How a {@link ItemStore#fetch} ended, or, from UNREADABLE on, what came in place of one. */
public enum Outcome {
  /** It was there. */
  HIT,
  /** It came from the memory of another host. */
  PEER,
  /** It is kept now, here or by another host, read from storage by this call. */
  ADMITTED,
  /** A hit, but this call had to read storage to confirm it: only the change time differs. */
  CONFIRMED,
  /** It was read by this call, if at all, and there is no room to keep it. */
  FULL,
  /** The file is not what the key says. */
  CHANGED,
  /** Somebody else has been reading it for too long. */
  BUSY,
  /** The file could not be read. */
  UNREADABLE,
  /** It was not to be kept, for the sake of items in another form; see {@link KeptForms}. */
  SPARED,
  /** The program's own call reads it. */
  OBSERVED;

  /** Where the bytes came from, or are to come from. */
  Origin origin() {
    return switch (this) {
      case HIT -> Origin.MEMORY;
      case PEER -> Origin.PEER;
      default -> Origin.STORAGE;
    };
  }
}
