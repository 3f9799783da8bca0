package io.coordl.store;

import io.coordl.items.ItemKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A store of items: the arena of this process or host, alone or together with other hosts or Redis.
 * Safe for concurrent use. Called on program threads, so every wait is bounded. An interrupt may
 * shorten a wait, but causes no exception, and the interrupt flag does not change.
 */
public interface ItemStore {
  /** Maximum length of an item. */
  int MAX_ITEM_BYTES = ArenaDescriptor.MAX_ITEM_BYTES;

  /**
   * Returns the item's bytes if they are in this host's memory, read-only, from 0 to the item's
   * length; else null. Reads no storage, queries no other host and does not wait.
   */
  @Nullable ByteBuffer find(ItemKey key);

  /**
   * Returns the item's bytes, from memory or from {@code loader}. Unless the store is full, or
   * something fails or takes too long, only one thread of all jobs that share the store runs its
   * loader for an item. Each call runs its loader at most once.
   *
   * @param length length of the item in bytes
   * @throws IOException only if the loader throws it
   */
  Fetched fetch(ItemKey key, int length, Loader loader) throws IOException;
}
