package io.coordl.bridge;

import java.util.Locale;

/** Where the bytes of an opened item came from: the farthest place that any of them did. */
public enum Origin {
  /** A store of this host. */
  MEMORY,
  /** The memory of another host. */
  PEER,
  /** The file itself. */
  STORAGE;

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
