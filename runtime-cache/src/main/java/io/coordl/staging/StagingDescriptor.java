package io.coordl.staging;

import io.coordl.shared.Contents;

/**
 * Layout of a staging file: every offset has its name here, and nowhere else is a byte counted. All
 * words are 64 bits wide, in the machine's byte order.
 *
 * <pre>
 * header | members | slot words | slot lengths | fingerprint | two passes | slots, page aligned
 *
 * word:   state 2 bits | pass 22 | middle 24 | low 16
 * slot:   FREE | FILLING pass, job | READY pass, batch, holders | BROKEN
 * pass:   NEVER | CREATING pass, job | OPEN pass, -, members | SLIDING pass, -, members
 * claim:  UNCLAIMED | CLAIMED pass, job | STAGED pass, slot | UNSTAGED pass
 * cursor: pass, first batch that the member has not done with
 * </pre>
 *
 * <p>A claim whose pass is another than its descriptor's is unclaimed. Holders and members are sets
 * of member numbers, one bit each.
 */
final class StagingDescriptor {
  /** "CoorDLst" as one word; in the other byte order it does not match. */
  static final long MAGIC_VALUE = 0x436f6f72444c7374L;

  static final long VERSION_VALUE = 1;

  static final long MAGIC = Contents.Header.MAGIC;
  static final long VERSION = Contents.Header.VERSION;
  static final long LAYOUT = Contents.Header.LAYOUT;
  static final long UID = Contents.Header.UID;
  static final long CAPACITY = Contents.Header.CAPACITY;
  static final long JOBS = Contents.Header.JOBS;

  /** Items an order may have. */
  static final long ITEM_ROOM = 64;

  /** Batches an order may have. */
  static final long BATCH_ROOM = 72;

  /** Bytes of all slots together. */
  static final long BUDGET = 80;

  /** Bytes of the fingerprint. */
  static final long TEXT_BYTES = 88;

  /** Bytes of one slot, a multiple of a page; 0 until a first batch was prepared. */
  static final long SLOT_BYTES = 128;

  /** The job that prepares that first batch, 0 if none. */
  static final long SIZER = 192;

  /** A bit for each slot that has memory behind it. */
  static final long RESERVED = 200;

  static final int MAX_MEMBERS = 16;
  private static final long MEMBERS = 256;
  private static final long MEMBER_BYTES = 128;

  /** Number of the job, 0 if nobody is this member. */
  static final long MEMBER_JOB = 0;

  static final long MEMBER_PID = 8;

  /** Changes several times a second while the job is not stopped. */
  static final long MEMBER_BEAT = 16;

  /** Not 0 while the job waits in another pipeline of the group. */
  static final long MEMBER_BLOCKED = 24;

  /** The pass the job prepares batches of, 0 if none. */
  static final long MEMBER_PRODUCES = 32;

  static final long MEMBER_CURSOR = 64;

  static final int MAX_SLOTS = 64;
  private static final long SLOTS = MEMBERS + MAX_MEMBERS * MEMBER_BYTES;
  private static final long SLOT_LENGTHS = SLOTS + 8L * MAX_SLOTS;

  static final int HEADER_BYTES = 4096;

  static final long TEXT = HEADER_BYTES;
  static final int MAX_TEXT_BYTES = 60 << 10;

  static final int TEXT_END = HEADER_BYTES + MAX_TEXT_BYTES;

  private static final long PASSES = TEXT_END;
  private static final long PASS_BATCHES = 8;
  private static final long PASS_ITEMS = 16;
  private static final long PASS_CLAIMS = 64;

  static final long PAGE = 4096;

  static final int FREE = 0;
  static final int FILLING = 1;
  static final int READY = 2;

  /** There is no memory behind the slot. */
  static final int BROKEN = 3;

  static final int NEVER = 0;
  static final int CREATING = 1;

  /** May be entered: none of its batches has been given up. */
  static final int OPEN = 2;

  static final int SLIDING = 3;

  static final int UNCLAIMED = 0;
  static final int CLAIMED = 1;
  static final int STAGED = 2;

  /** Each job prepares it for itself. */
  static final int UNSTAGED = 3;

  private static final int STATE_SHIFT = 62;
  private static final int PASS_SHIFT = 40;
  private static final int MIDDLE_SHIFT = 16;
  private static final long MIDDLE_MASK = (1L << 24) - 1;
  static final long LOW_MASK = (1L << MIDDLE_SHIFT) - 1;

  static final long MAX_PASS = (1L << 22) - 1;

  /** The cursor's batch once a member has done with the whole pass. */
  static final long ALL = MIDDLE_MASK;

  static final long MAX_BATCHES = ALL - 1;

  static final long LAYOUT_VALUE =
      PASSES | (long) MAX_MEMBERS << 24 | (long) MAX_SLOTS << 32 | PASS_CLAIMS << 40;

  private StagingDescriptor() {}

  static long word(int state, long pass, long middle, long low) {
    return (long) state << STATE_SHIFT | pass << PASS_SHIFT | middle << MIDDLE_SHIFT | low;
  }

  static int state(long word) {
    return (int) (word >>> STATE_SHIFT);
  }

  static long pass(long word) {
    return word >>> PASS_SHIFT & MAX_PASS;
  }

  static long middle(long word) {
    return word >>> MIDDLE_SHIFT & MIDDLE_MASK;
  }

  static long low(long word) {
    return word & LOW_MASK;
  }

  /** A cursor; of two, the one that is further is the greater number. */
  static long cursor(long pass, long batch) {
    return word(0, pass, batch, 0);
  }

  static long member(int member) {
    return MEMBERS + MEMBER_BYTES * member;
  }

  static long slot(int slot) {
    return SLOTS + 8L * slot;
  }

  /** Bytes of the batch in a slot. */
  static long slotLength(int slot) {
    return SLOT_LENGTHS + 8L * slot;
  }

  /** The descriptor of a pass; that of the pass after the next is the same. */
  static int descriptor(long pass) {
    return (int) (pass & 1);
  }

  static long passBytes(long itemRoom, long batchRoom) {
    return PASS_CLAIMS + 8 * batchRoom + (4 * (batchRoom + itemRoom) + 7 & -8L);
  }

  /** Where a slot of the given size lies. */
  static long slotOffset(long itemRoom, long batchRoom, int slot, long slotBytes) {
    return slotsOffset(itemRoom, batchRoom) + slot * slotBytes;
  }

  /** Where the slots begin: everything before is reserved when the file is made. */
  static long slotsOffset(long itemRoom, long batchRoom) {
    return PASSES + 2 * passBytes(itemRoom, batchRoom) + PAGE - 1 & -PAGE;
  }

  /** Offsets within the file of one of the two passes under way. */
  record Pass(long state, long batches, long items, long claims, long endTable, long itemTable) {
    static Pass at(int descriptor, long itemRoom, long batchRoom) {
      long at = PASSES + descriptor * passBytes(itemRoom, batchRoom);
      long claims = at + PASS_CLAIMS;
      long ends = claims + 8 * batchRoom;
      return new Pass(at, at + PASS_BATCHES, at + PASS_ITEMS, claims, ends, ends + 4 * batchRoom);
    }

    long claim(int batch) {
      return claims + 8L * batch;
    }
  }
}
