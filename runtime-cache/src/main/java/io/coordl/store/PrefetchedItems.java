package io.coordl.store;

import io.coordl.items.ItemKey;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prefetched items that this host does not cache, because another host or Redis does. Each waits
 * here for its first request. Bounded in bytes; at the limit prefetching stops, so that the items
 * needed first stay. An item not requested within {@link #MAX_WAIT} requests for others may be
 * dropped to make room. Safe for concurrent use; blocks only briefly.
 */
final class PrefetchedItems {
  /** More than the number of items prefetched ahead, so an older item is no longer needed. */
  private static final long MAX_WAIT = 2_048;

  private final long budget;
  private final Map<ItemKey, Waiting> waiting = new LinkedHashMap<>();
  private long bytes;
  private long requests;

  private record Waiting(ByteBuffer content, long since) {}

  PrefetchedItems(long budget) {
    this.budget = budget;
  }

  /**
   * Whether an item of this length fits now. If necessary, drops items that were not requested in
   * time.
   */
  synchronized boolean makeRoom(long length) {
    Iterator<Waiting> oldest = waiting.values().iterator();
    while (bytes + length > budget && oldest.hasNext()) {
      Waiting first = oldest.next();
      if (requests - first.since <= MAX_WAIT) {
        break;
      }
      oldest.remove();
      bytes -= first.content.limit();
    }
    return bytes + length <= budget;
  }

  /** Stores an item for the next caller that requests it, if there is room. */
  synchronized void put(ItemKey key, ByteBuffer content) {
    if (makeRoom(content.limit())
        && waiting.putIfAbsent(key, new Waiting(content, requests)) == null) {
      bytes += content.limit();
    }
  }

  synchronized boolean has(ItemKey key) {
    return waiting.containsKey(key);
  }

  /** Removes and returns the item; null if it is not here. */
  synchronized @Nullable ByteBuffer take(ItemKey key) {
    requests++;
    Waiting item = waiting.remove(key);
    if (item == null) {
      return null;
    }
    bytes -= item.content.limit();
    return item.content;
  }
}
