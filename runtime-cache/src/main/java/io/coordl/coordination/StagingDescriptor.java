package io.coordl.coordination;

/**
 * Layout of a staging file: this class names every offset. All words are 64 bits wide, in native
 * byte order.
 *
 * <pre>
 * header | participants | slot words | slot lengths | fingerprint | two epochs | slots, page aligned
 *
 * word:   state 2 bits | epoch 22 | middle 24 | low 16
 * slot:   FREE | FILLING epoch, job | READY epoch, batch, holders | BROKEN
 * epoch:  NEVER | CREATING epoch, job | OPEN epoch, -, participants | SLIDING epoch, -, participants
 * claim:  UNCLAIMED | CLAIMED epoch, job | STAGED epoch, slot | UNSTAGED epoch
 * cursor: epoch, first batch that the participant still needs
 * </pre>
 *
 * <p>A claim whose epoch is not that of the descriptor around it counts as UNCLAIMED. Holders and
 * participants are sets of participant numbers, one bit each.
 */
final class StagingDescriptor {
  /** "CoorDLst" as one word; differs in the other byte order. */
  static final long MAGIC_VALUE = 0x436f6f72444c7374L;

  static final long VERSION_VALUE = 1;

  /** Maximum number of items in an order. */
  static final long ITEM_ROOM = 64;

  /** Maximum number of batches in an order. */
  static final long BATCH_ROOM = 72;

  /** Bytes available for all slots together. */
  static final long BUDGET = 80;

  /** Length of the fingerprint in bytes. */
  static final long TEXT_BYTES = 88;

  /** Size of one slot in bytes, a multiple of a page; 0 until the first batch is prepared. */
  static final long SLOT_BYTES = 128;

  /** Job that prepares the first batch; 0 if none. */
  static final long SIZER = 192;

  /** A bit for each slot whose memory is reserved. */
  static final long RESERVED = 200;

  static final int MAX_PARTICIPANTS = 16;
  private static final long PARTICIPANTS = 256;
  private static final long PARTICIPANT_BYTES = 128;

  /** Job number; 0 if this participant number is free. */
  static final long PARTICIPANT_JOB = 0;

  static final long PARTICIPANT_PID = 8;

  /** Changes several times a second while the job is running. */
  static final long PARTICIPANT_BEAT = 16;

  /** Nonzero while the job waits in another pipeline of the group. */
  static final long PARTICIPANT_BLOCKED = 24;

  /** Epoch for which the job prepares batches; 0 if none. */
  static final long PARTICIPANT_PRODUCES = 32;

  static final long PARTICIPANT_CURSOR = 64;

  static final int MAX_SLOTS = 64;
  private static final long SLOTS = PARTICIPANTS + MAX_PARTICIPANTS * PARTICIPANT_BYTES;
  private static final long SLOT_LENGTHS = SLOTS + 8L * MAX_SLOTS;

  static final int HEADER_BYTES = 4096;

  static final long TEXT = HEADER_BYTES;
  static final int MAX_TEXT_BYTES = 60 << 10;

  static final int TEXT_END = HEADER_BYTES + MAX_TEXT_BYTES;

  private static final long EPOCHS = TEXT_END;
  private static final long EPOCH_BATCHES = 8;
  private static final long EPOCH_ITEMS = 16;
  private static final long EPOCH_CLAIMS = 64;

  static final long PAGE = 4096;

  static final int FREE = 0;
  static final int FILLING = 1;
  static final int READY = 2;

  /** No memory could be reserved for the slot. */
  static final int BROKEN = 3;

  static final int NEVER = 0;
  static final int CREATING = 1;

  /** Jobs may enter, because none of the epoch's slots has been reused yet. */
  static final int OPEN = 2;

  static final int SLIDING = 3;

  static final int UNCLAIMED = 0;
  static final int CLAIMED = 1;
  static final int STAGED = 2;

  /** Each job prepares the batch locally. */
  static final int UNSTAGED = 3;

  private static final int STATE_SHIFT = 62;
  private static final int EPOCH_SHIFT = 40;
  private static final int MIDDLE_SHIFT = 16;
  private static final long MIDDLE_MASK = (1L << 24) - 1;
  static final long LOW_MASK = (1L << MIDDLE_SHIFT) - 1;

  static final long MAX_EPOCH = (1L << 22) - 1;

  /** The cursor's batch once a participant has finished the epoch. */
  static final long ALL = MIDDLE_MASK;

  static final long MAX_BATCHES = ALL - 1;

  static final long LAYOUT_VALUE =
      EPOCHS | (long) MAX_PARTICIPANTS << 24 | (long) MAX_SLOTS << 32 | EPOCH_CLAIMS << 40;

  private StagingDescriptor() {}

  static long word(int state, long epoch, long middle, long low) {
    return (long) state << STATE_SHIFT | epoch << EPOCH_SHIFT | middle << MIDDLE_SHIFT | low;
  }

  static int state(long word) {
    return (int) (word >>> STATE_SHIFT);
  }

  static long epoch(long word) {
    return word >>> EPOCH_SHIFT & MAX_EPOCH;
  }

  static long middle(long word) {
    return word >>> MIDDLE_SHIFT & MIDDLE_MASK;
  }

  static long low(long word) {
    return word & LOW_MASK;
  }

  /** Returns a cursor; a later position is a greater number. */
  static long cursor(long epoch, long batch) {
    return word(0, epoch, batch, 0);
  }

  static long participant(int participant) {
    return PARTICIPANTS + PARTICIPANT_BYTES * participant;
  }

  static long slot(int slot) {
    return SLOTS + 8L * slot;
  }

  static long slotLength(int slot) {
    return SLOT_LENGTHS + 8L * slot;
  }

  /** Returns the descriptor of an epoch; the epoch after the next reuses it. */
  static int descriptor(long epoch) {
    return (int) (epoch & 1);
  }

  static long epochBytes(long itemRoom, long batchRoom) {
    return EPOCH_CLAIMS + 8 * batchRoom + (4 * (batchRoom + itemRoom) + 7 & -8L);
  }

  static long slotOffset(long itemRoom, long batchRoom, int slot, long slotBytes) {
    return slotsOffset(itemRoom, batchRoom) + slot * slotBytes;
  }

  /** Returns the offset of the slots; all bytes before it are reserved when the file is created. */
  static long slotsOffset(long itemRoom, long batchRoom) {
    return EPOCHS + 2 * epochBytes(itemRoom, batchRoom) + PAGE - 1 & -PAGE;
  }

  /** File offsets of one of the two epochs in progress. */
  record Epoch(long state, long batches, long items, long claims, long endTable, long itemTable) {
    static Epoch at(int descriptor, long itemRoom, long batchRoom) {
      long at = EPOCHS + descriptor * epochBytes(itemRoom, batchRoom);
      long claims = at + EPOCH_CLAIMS;
      long ends = claims + 8 * batchRoom;
      return new Epoch(
          at, at + EPOCH_BATCHES, at + EPOCH_ITEMS, claims, ends, ends + 4 * batchRoom);
    }

    long claim(int batch) {
      return claims + 8L * batch;
    }
  }
}
