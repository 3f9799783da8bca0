package io.coordl.store;

import io.coordl.items.ItemKey;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prefetched items that no store of this host keeps, because another host does. Each waits here
 * until it is asked for once. Bounded in bytes; at the limit prefetching stops, so that the items
 * needed first stay. After {@link #LONGEST_WAIT} requests for others, an unclaimed item may be
 * dropped to make room. Safe for concurrent use; never blocks for long.
 */
final class PrefetchedItems {
  /** More items than are ever prefetched ahead: an item that waits longer is not needed. */
  private static final long LONGEST_WAIT = 2_048;

  private final long budget;
  private final Map<ItemKey, Waiting> waiting = new LinkedHashMap<>();
  private long bytes;
  private long asked;

  private record Waiting(ByteBuffer content, long since) {}

  PrefetchedItems(long budget) {
    this.budget = budget;
  }

  /** Whether an item of this length would be kept now. */
  synchronized boolean hasRoom(long length) {
    Iterator<Waiting> oldest = waiting.values().iterator();
    while (bytes + length > budget && oldest.hasNext()) {
      Waiting first = oldest.next();
      if (asked - first.since <= LONGEST_WAIT) {
        break;
      }
      oldest.remove();
      bytes -= first.content.limit();
    }
    return bytes + length <= budget;
  }

  /** Keeps an item for the next caller that asks for it, if there is room. */
  synchronized void put(ItemKey key, ByteBuffer content) {
    if (hasRoom(content.limit()) && waiting.putIfAbsent(key, new Waiting(content, asked)) == null) {
      bytes += content.limit();
    }
  }

  synchronized boolean has(ItemKey key) {
    return waiting.containsKey(key);
  }

  /** Removes and returns the item; null if it is not here. */
  synchronized @Nullable ByteBuffer take(ItemKey key) {
    asked++;
    Waiting found = waiting.remove(key);
    if (found == null) {
      return null;
    }
    bytes -= found.content.limit();
    return found.content;
  }
}
