package io.coordl.store;

import io.coordl.items.ItemKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A store of items: the arena of this process or host, or of several hosts together. Safe for
 * concurrent use. Called on threads of the program, so every wait is bounded, nothing is
 * interruptible, and the interrupt flag stays as it is.
 */
public interface ItemStore {
  /** The longest item. */
  int MAX_ITEM_BYTES = ArenaDescriptor.MAX_ITEM_BYTES;

  /**
   * The item's bytes if they are in memory of this host, read-only, from 0 to the item's length.
   * Reads no storage, asks no other host and does not wait.
   */
  @Nullable ByteBuffer find(ItemKey key);

  /**
   * The item's bytes, from memory or from {@code loader}. Of all threads and jobs that share the
   * store, at most one at a time runs a loader for an item; each call of this method runs it at
   * most once.
   *
   * @param length the item's, in bytes
   * @throws IOException only what the loader threw
   */
  Fetched fetch(ItemKey key, int length, Loader loader) throws IOException;
}
