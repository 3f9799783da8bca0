package io.coordl.cache;

/** How a {@link ItemStore#fetch} ended. */
public enum Outcome {
  /** It was there. */
  HIT,
  /** It came from the memory of another host. */
  PEER,
  /** It is kept now, here or by another host, read from storage by this call. */
  ADMITTED,
  /** It was read by this call, if at all, and there is no room to keep it. */
  FULL,
  /** The file is not what the key says. */
  CHANGED,
  /** Somebody else has been reading it for too long. */
  BUSY
}
