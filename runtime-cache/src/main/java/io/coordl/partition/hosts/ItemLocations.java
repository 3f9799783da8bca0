package io.coordl.partition.hosts;

import io.coordl.cache.ItemKey;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * What was learnt of items that are not with the member they belong to: with whom they are, or that
 * nobody has them and all are full, which stays so, since nothing is ever evicted. Holds for one
 * set of members within reach.
 *
 * <p>An open-addressing table of one word an item, 48 bits of its key and the place; that two items
 * share these bits costs a read of storage. It starts with 32 KiB and grows to 8 MiB; from then on,
 * what finds no place near its own takes that of another, which is learnt anew when it is met. Safe
 * for concurrent use; {@link #of} never blocks.
 */
final class ItemLocations {
  static final int UNKNOWN = -1;
  static final int NOWHERE = 0xffff;

  private static final int FIRST_SLOTS = 1 << 12;
  private static final int MOST_SLOTS = 1 << 20;

  /** An item stands at most so many slots behind its own: two cache lines. */
  private static final int REACH = 16;

  private volatile @Nullable AtomicLongArray table;
  private int taken;

  /** Number of the member that has the item, {@link #NOWHERE}, or {@link #UNKNOWN}. */
  int of(ItemKey key) {
    AtomicLongArray slots = table;
    if (slots == null) {
      return UNKNOWN;
    }
    long word = slots.get(find(slots, key.low() >>> 16));
    return word != 0 && word >>> 16 == key.low() >>> 16 ? (int) (word & 0xffff) : UNKNOWN;
  }

  synchronized void put(ItemKey key, int place) {
    AtomicLongArray slots = table;
    if (slots == null) {
      slots = new AtomicLongArray(FIRST_SLOTS);
    } else if (taken > slots.length() / 2 && slots.length() < MOST_SLOTS) {
      slots = grown(slots);
    }
    put(slots, (key.low() >>> 16 << 16) | place);
    table = slots;
  }

  private AtomicLongArray grown(AtomicLongArray before) {
    AtomicLongArray slots = new AtomicLongArray(2 * before.length());
    taken = 0;
    for (int i = 0; i < before.length(); i++) {
      if (before.get(i) != 0) {
        put(slots, before.get(i));
      }
    }
    return slots;
  }

  private void put(AtomicLongArray slots, long word) {
    int at = find(slots, word >>> 16);
    taken += slots.get(at) == 0 ? 1 : 0;
    slots.set(at, word);
  }

  /** The slot of the item; one that is free, if none near its own has it, else its own. */
  private static int find(AtomicLongArray slots, long keyBits) {
    int mask = slots.length() - 1;
    for (int i = 0; i < REACH; i++) {
      int at = ((int) keyBits + i) & mask;
      long there = slots.get(at);
      if (there == 0 || there >>> 16 == keyBits) {
        return at;
      }
    }
    return (int) keyBits & mask;
  }
}
