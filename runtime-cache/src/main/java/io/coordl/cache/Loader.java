package io.coordl.cache;

import java.io.IOException;

/** Puts an item's bytes into memory, from where they are kept for good. */
@FunctionalInterface
public interface Loader {
  /**
   * Reads exactly the item's length into {@code target} from {@code offset} on.
   *
   * @return false if the file is not (any more) what the key says
   * @throws IOException what the file itself threw
   */
  boolean load(byte[] target, int offset) throws IOException;
}
