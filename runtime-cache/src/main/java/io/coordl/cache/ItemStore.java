package io.coordl.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where items are kept: the arena of this process or host, or of several hosts together. Safe for
 * concurrent use; on threads of the program, so never longer than bounded, never interruptible, and
 * the interrupt flag stays as it is.
 */
public interface ItemStore {
  /** The longest item. */
  int MAX_ITEM_BYTES = ArenaDescriptor.MAX_ITEM_BYTES;

  /**
   * The item's bytes if they are in memory of this host, read-only, from 0 to the item's length: no
   * storage is read, no other host asked and nobody waited for.
   */
  @Nullable ByteBuffer find(ItemKey key);

  /**
   * The item's bytes, from memory, or by {@code loader}, which at most one thread of all who share
   * the store calls at a time for an item, and each call of this method at most once.
   *
   * @param length the item's, in bytes
   * @throws IOException what the loader threw, nothing else
   */
  Fetched fetch(ItemKey key, int length, Loader loader) throws IOException;
}
