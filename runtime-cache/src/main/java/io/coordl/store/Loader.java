package io.coordl.store;

import java.io.IOException;

/** Loads an item's bytes into memory from permanent storage. */
@FunctionalInterface
public interface Loader {
  /**
   * Reads exactly the item's length into {@code target} from {@code offset} on.
   *
   * @return false if the file does not (or no longer) match the key
   * @throws IOException if reading the file fails
   */
  boolean load(byte[] target, int offset) throws IOException;
}
