package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the locations of items that their owner does not cache: another member, or nowhere if
 * all candidates are full. The latter is permanent, because nothing is evicted. Valid for one set
 * of reachable members.
 *
 * <p>An open-addressing table with one word per item: 48 bits of its key, and the location. If two
 * items share these bits, a fetch may cost a needless request or storage read. The table starts at
 * 32 KiB and grows to 8 MiB; after that, a new entry may overwrite another, which is learned again
 * when next needed. Safe for concurrent use; {@link #of} never blocks.
 */
final class ItemLocations {
  static final int UNKNOWN = -1;
  static final int NOWHERE = 0xffff;

  private static final int FIRST_SLOTS = 1 << 12;
  private static final int MAX_SLOTS = 1 << 20;

  /** Maximum probe distance: two cache lines. */
  private static final int REACH = 16;

  private volatile @Nullable AtomicLongArray table;
  private int taken;

  /** Returns the index of the member that has the item, {@link #NOWHERE}, or {@link #UNKNOWN}. */
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
    } else if (taken > slots.length() / 2 && slots.length() < MAX_SLOTS) {
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

  /** Returns the item's slot; else a free slot near its home slot; else the home slot. */
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
