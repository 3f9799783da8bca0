package io.coordl.cache;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prefetched items that no store of this host keeps, since another host does: each waits here until
 * it is asked for once. Bounded in bytes; at the limit nothing is prefetched, so that what comes
 * first is there when it is asked for. What nobody asks for makes room once so many others were
 * asked for. Safe for concurrent use; never blocks for long.
 */
final class PrefetchedItems {
  /** More than anybody prefetches: what waits longer waits in vain. */
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

  /** Keeps an item for the next who asks, if there is room. */
  synchronized void put(ItemKey key, ByteBuffer content) {
    if (hasRoom(content.limit()) && waiting.putIfAbsent(key, new Waiting(content, asked)) == null) {
      bytes += content.limit();
    }
  }

  synchronized boolean has(ItemKey key) {
    return waiting.containsKey(key);
  }

  /** The item, which is then here no more; null if it was not. */
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
