package io.coordl.store;

import java.io.IOException;

/** Loads an item's bytes into memory from permanent storage. */
@FunctionalInterface
public interface Loader {
  /**
   * Reads exactly the item's bytes into {@code target}, starting at {@code offset}.
   *
   * @return false if the file does not match the key, or no longer does
   * @throws IOException if reading the file fails
   */
  boolean load(byte[] target, int offset) throws IOException;
}
