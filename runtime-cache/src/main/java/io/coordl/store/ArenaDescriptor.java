package io.coordl.store;

import io.coordl.host.Liveness;
import io.coordl.items.ItemKey;

/**
 * Layout of an arena: every offset is named here and only here. All words are 64 bits wide, in the
 * machine's byte order, aligned to 8. The first words are the header of every shared file ({@link
 * io.coordl.host.Contents.Header}).
 *
 * <pre>
 * header | first table | items and further tables, in the order they were appended ... capacity
 *
 * item:  key high 8 | key low 8 | length 4 | CRC32C 4 | bytes | padding to 8
 * slot:  one word of a table: state 2 bits | by state:
 *          EMPTY     0
 *          CLAIMED   owner (job number) 22 | tag 40
 *          READY     tag 22 | offset of the item / 8, 40
 *          ABANDONED tag 62
 * </pre>
 */
final class ArenaDescriptor {
  /** "CoorDLar" as one word; in the other byte order it does not match. */
  static final long MAGIC_VALUE = 0x436f6f72444c6172L;

  static final long VERSION_VALUE = 4;

  /** Nonzero once a job requests that the memory be given back: all jobs leave, and none joins. */
  static final long GIVEN_BACK = 48;

  /** Nonzero if the user set the budget: none of it is given back when memory is short. */
  static final long NAMED = 56;

  /** Where the next item or table is appended. */
  static final long TAIL = 64;

  /** Number of items; one too low for each job killed between publishing and counting. */
  static final long ITEMS = 128;

  /** Job that is appending a table, 0 if none. */
  static final long GROWER = 192;

  /** Number of tables in use. */
  static final long TABLES = 200;

  /** Nonzero once a write failed because memory ran out: nothing is admitted any more. */
  static final long REFUSING = 208;

  /** Nonzero once a job starts to write the {@link Rates}; {@link #RATES_WRITTEN} when done. */
  static final long RATES_STATE = 216;

  static final long RATES_WRITTEN = 2;

  /** The four {@link Rates} that determine which form of an item is preferred. */
  static final long RAW_BYTES = 224;

  static final long DECODED_BYTES = 232;

  static final long READ_NANOS = 240;

  static final long DECODE_NANOS = 248;

  static final int MAX_TABLES = 256;

  /** Offset of each table in the arena. */
  static final long TABLE_OFFSETS = 256;

  /** Number of slots taken in each table. */
  static final long TABLE_FILLS = TABLE_OFFSETS + 8L * MAX_TABLES;

  /** Number of decoded items; like {@link #ITEMS}, too low after a kill. */
  static final long DECODED_ITEMS = TABLE_FILLS + 8L * MAX_TABLES;

  /** Like {@link #DECODED_ITEMS}, for prepared samples. */
  static final long PREPARED_ITEMS = DECODED_ITEMS + 128;

  /** Distance from a count to the bytes of the counted items. */
  static final long BYTES = 64;

  static final int HEADER_BYTES = 8192;

  static final int FIRST_TABLE_BITS = 12;
  static final int LAST_TABLE_BITS = 21;

  static final int ITEM_KEY_HIGH = 0;
  static final int ITEM_KEY_LOW = 8;
  static final int ITEM_LENGTH = 16;
  static final int ITEM_CHECKSUM = 20;
  static final int ITEM_HEADER_BYTES = 24;

  /** Maximum length of an item plus its stamp. */
  static final int MAX_ITEM_BYTES = (8 << 20) + StampedItems.STAMP_BYTES;

  static final long EMPTY = 0;
  private static final long CLAIMED = 1;
  private static final long READY = 2;
  private static final long ABANDONED = 3;

  private static final int STATE_SHIFT = 62;
  private static final int HIGH_SHIFT = 40;
  private static final long LOW_MASK = (1L << HIGH_SHIFT) - 1;

  /** Mask of the field above the low one: a claim's job number, or the tag of a READY slot. */
  private static final long HIGH_MASK = Liveness.MAX_JOB;

  private static final long ABANDONED_MASK = (1L << STATE_SHIFT) - 1;

  /** Largest arena whose offsets fit a slot: 8 TiB. */
  static final long MAX_CAPACITY = (LOW_MASK + 1) << 3;

  static final long LAYOUT_VALUE =
      HEADER_BYTES
          | (long) ITEM_HEADER_BYTES << 16
          | (long) FIRST_TABLE_BITS << 24
          | (long) LAST_TABLE_BITS << 32
          | (long) MAX_TABLES << 40;

  private ArenaDescriptor() {}

  static long align(long bytes) {
    return (bytes + 7) & -8L;
  }

  /** Returns the number of slots of a table, which doubles with each table up to a maximum. */
  static int slots(int table) {
    return 1 << Math.min(FIRST_TABLE_BITS + table, LAST_TABLE_BITS);
  }

  /** Returns the number of slots of a table that may be taken: three quarters. */
  static int fillLimit(int table) {
    return slots(table) / 4 * 3;
  }

  static long tableBytes(int table) {
    return 8L * slots(table);
  }

  static long tableOffset(int table) {
    return TABLE_OFFSETS + 8L * table;
  }

  static long tableFill(int table) {
    return TABLE_FILLS + 8L * table;
  }

  static long claimed(long job, ItemKey key) {
    return CLAIMED << STATE_SHIFT | job << HIGH_SHIFT | (key.low() & LOW_MASK);
  }

  static long ready(long offset, ItemKey key) {
    return READY << STATE_SHIFT | (key.low() & HIGH_MASK) << HIGH_SHIFT | offset >>> 3;
  }

  static long abandoned(ItemKey key) {
    return ABANDONED << STATE_SHIFT | (key.low() & ABANDONED_MASK);
  }

  static boolean isClaimed(long slot) {
    return slot >>> STATE_SHIFT == CLAIMED;
  }

  static boolean isReady(long slot) {
    return slot >>> STATE_SHIFT == READY;
  }

  static boolean isAbandoned(long slot) {
    return slot >>> STATE_SHIFT == ABANDONED;
  }

  /** Whether the slot's tag matches the key; another key may have the same tag. */
  static boolean tagMatches(long slot, ItemKey key) {
    if (isReady(slot)) {
      return (slot >>> HIGH_SHIFT & HIGH_MASK) == (key.low() & HIGH_MASK);
    }
    long mask = isClaimed(slot) ? LOW_MASK : ABANDONED_MASK;
    return slot != EMPTY && (slot & mask) == (key.low() & mask);
  }

  static long owner(long claimed) {
    return claimed >>> HIGH_SHIFT & HIGH_MASK;
  }

  static long itemOffset(long ready) {
    return (ready & LOW_MASK) << 3;
  }
}
