package io.coordl.bridge;

import java.util.Locale;

/** The farthest source of any byte of an opened item. */
public enum Origin {
  /** A store of this host. */
  MEMORY,
  /** The memory of another host, or Redis. */
  PEER,
  /** The file itself. */
  STORAGE;

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
