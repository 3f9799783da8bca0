package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.ALL;
import static io.coordl.staging.StagingDescriptor.BROKEN;
import static io.coordl.staging.StagingDescriptor.CLAIMED;
import static io.coordl.staging.StagingDescriptor.CREATING;
import static io.coordl.staging.StagingDescriptor.FILLING;
import static io.coordl.staging.StagingDescriptor.FREE;
import static io.coordl.staging.StagingDescriptor.MAX_MEMBERS;
import static io.coordl.staging.StagingDescriptor.MEMBER_CURSOR;
import static io.coordl.staging.StagingDescriptor.MEMBER_PRODUCES;
import static io.coordl.staging.StagingDescriptor.NEVER;
import static io.coordl.staging.StagingDescriptor.OPEN;
import static io.coordl.staging.StagingDescriptor.READY;
import static io.coordl.staging.StagingDescriptor.SIZER;
import static io.coordl.staging.StagingDescriptor.SLIDING;
import static io.coordl.staging.StagingDescriptor.SLOT_BYTES;
import static io.coordl.staging.StagingDescriptor.STAGED;
import static io.coordl.staging.StagingDescriptor.UNCLAIMED;
import static io.coordl.staging.StagingDescriptor.UNSTAGED;

import org.jspecify.annotations.Nullable;

/**
 * The staging buffer of one pipeline, as one of its jobs uses it: prepared batches in shared memory
 * until all jobs of a pass have used them. After the coordinated prep of the CoorDL paper (section
 * 4.3), with a window instead of lock step, and jobs that come, go, stop and die.
 *
 * <p><b>What makes it safe</b> is not in here: every job walks the batches of its pass 0, 1, 2 ...
 * by itself, and can prepare each of them by itself, in the order that all jobs of the pass have
 * adopted. So each job uses each batch exactly once whatever is shared; what is shared decides only
 * where the bytes come from. All steps here are attempts that end at once; {@link SharedPass}
 * repeats them, and gives up.
 *
 * <h2>Protocol</h2>
 *
 * <p>Everything is decided by a compare-and-set of one word ({@link StagingDescriptor}).
 *
 * <ul>
 *   <li><b>Passes.</b> Two may be under way, the newest and the one before. Whoever begins a pass
 *       enters the newest if that is OPEN and he was not in it, and adopts its order; else he
 *       creates the next one with his own order, once all have come to the newest and nobody is
 *       left in the one before, whose descriptor it takes. So no batch serves a job twice, nor two
 *       passes.
 *   <li><b>Preparing.</b> A producer first takes a slot (FILLING), then claims the smallest
 *       unclaimed batch: whoever has a claim has a slot, so the batch that the slowest job waits
 *       for is never without one. Then it prepares, copies once, makes the slot READY and at last
 *       the claim STAGED.
 *   <li><b>Using.</b> A job adds its bit to the holders in the slot's word, if that still says
 *       READY with this pass and batch, and takes the bit away when the program is done with the
 *       bytes.
 *   <li><b>Giving up.</b> A READY slot without holders may be filled anew once the cursor of every
 *       member of its pass is past its batch. The first time that happens the pass goes from OPEN
 *       to SLIDING, since from then on it cannot be entered any more. Holders and what is in the
 *       slot are one word, so nobody takes what is being given up.
 * </ul>
 *
 * <p>A newer pass may take half of the slots while somebody is in the older one, so that those can
 * always go on. Less than half of the slots are held longer than for a copy, an eighth by one job:
 * what programs keep never blocks anybody.
 *
 * <h2>What a kill -9 leaves</h2>
 *
 * <ul>
 *   <li>A slot FILLING or a claim, with the number of a dead job, which is never given again: the
 *       next who wants it takes it over. None of the dead job's stores can come late, for the
 *       kernel gives up its lock only when its last thread is gone.
 *   <li>A slot READY without a claim STAGED: given up when all are past the batch, which is
 *       prepared again.
 *   <li>A pass CREATING: the next who begins puts his order there.
 *   <li>Its bits among holders and members: cleared by any job, but only alone ({@link
 *       Members#buryDead}), since the number of a member, unlike that of a job, is given again.
 * </ul>
 *
 * <h2>Who is waited for</h2>
 *
 * <p>Slots that are not free wait for the slowest member of the pass, and before the first is given
 * up for members that have not yet come to it: but only for those that run, are not stopped, do not
 * wait in another pipeline of the group themselves, and get on ({@link Members#waitable}). Others
 * are taken out of the pass. Such a job goes on by itself and is back with the next pass. A stopped
 * job's claims are taken over, but never its slots, neither those it fills nor those it holds:
 * whatever it does when it goes on, it does to bytes nobody else reads.
 *
 * <h2>Memory order</h2>
 *
 * <p>The bytes of a slot are stored before the CAS to READY, which releases, and read after a CAS
 * from READY, which acquires. An order is stored before its pass becomes OPEN; who reads it finds
 * the same pass OPEN afterwards, when he enters it, or throws it away.
 *
 * <p>Thread-safe and lock-free.
 */
final class StagingBuffer {
  /** Nothing now; perhaps later. */
  static final int NOT_NOW = -1;

  /** Nothing in this pass any more. */
  static final int NEVER_MORE = -2;

  private final StagingMemory memory;
  private final Members members;
  private final Peers peers;
  private final StagingCounters counters;
  private final long job;
  private final int me;

  /** The pass this job has last begun. */
  private volatile long last;

  StagingBuffer(
      StagingMemory memory,
      Members members,
      Peers peers,
      StagingCounters counters,
      long job,
      int me) {
    this.memory = memory;
    this.members = members;
    this.peers = peers;
    this.counters = counters;
    this.job = job;
    this.me = me;
  }

  /**
   * A pass this job is in.
   *
   * @param number of the pass
   * @param at its descriptor
   */
  record Entered(long number, StagingDescriptor.Pass at, BatchOrder order) {}

  Members members() {
    return members;
  }

  int me() {
    return me;
  }

  // ---- passes

  /** Whether a pass with this order can be created. */
  boolean fits(BatchOrder order) {
    return order.items().length <= memory.itemRoom()
        && order.batches() <= memory.batchRoom()
        && order.batches() <= StagingDescriptor.MAX_BATCHES
        && last < StagingDescriptor.MAX_PASS - 2;
  }

  /** Whether no pass was begun by anybody. */
  boolean isFresh() {
    return memory.get(memory.pass(0).state()) == 0 && memory.get(memory.pass(1).state()) == 0;
  }

  /** Whether others are in the midst of a pass that this job cannot enter. */
  boolean comesLate() {
    for (int descriptor = 0; descriptor < 2; descriptor++) {
      long word = memory.get(memory.pass(descriptor).state());
      if (StagingDescriptor.state(word) == SLIDING
          && StagingDescriptor.pass(word) > last
          && StagingDescriptor.low(word) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Begins the newest pass or the next one; null if that is not possible now. */
  @Nullable Entered tryBegin(BatchOrder own) {
    members.buryDead();
    long word0 = memory.get(memory.pass(0).state());
    long word1 = memory.get(memory.pass(1).state());
    long newest = StagingDescriptor.pass(word0) > StagingDescriptor.pass(word1) ? word0 : word1;
    long number = StagingDescriptor.pass(newest);
    int state = StagingDescriptor.state(newest);
    if (state == OPEN && number > last) {
      return enter(number);
    }
    if (state == CREATING) {
      boolean dead = !peers.alive(StagingDescriptor.middle(newest));
      return dead ? create(number, newest, own) : null;
    }
    long oldest = newest == word0 ? word1 : word0;
    if (StagingDescriptor.state(oldest) == CREATING) {
      return null; // Both words changed between the two readings.
    }
    for (int member = 0; member < MAX_MEMBERS; member++) {
      if (Members.contains(oldest, member) && (member == me || !members.waitable(member))) {
        drop(StagingDescriptor.pass(oldest), member);
      }
    }
    if (state == OPEN && awaited(newest, number) >= 0) {
      return null; // Else they would enter the next one, and everybody be a pass apart.
    }
    return StagingDescriptor.low(oldest) == 0 ? create(number + 1, oldest, own) : null;
  }

  /** A member that has yet to come to the newest pass and may be expected to; -1 if none. */
  private int awaited(long word, long pass) {
    for (int member = 0; member < MAX_MEMBERS; member++) {
      if (member != me
          && !Members.contains(word, member)
          && members.job(member) != 0
          && members.cursor(member) <= StagingDescriptor.cursor(pass, 0)
          && members.waitable(member)) {
        return member;
      }
    }
    return -1;
  }

  private @Nullable Entered create(long number, long before, BatchOrder own) {
    StagingDescriptor.Pass at = memory.pass(StagingDescriptor.descriptor(number));
    long creating = StagingDescriptor.word(CREATING, number, job, 0);
    if (!memory.compareAndSet(at.state(), before, creating)) {
      return null;
    }
    memory.set(at.batches(), own.batches());
    memory.set(at.items(), own.items().length);
    memory.putInts(at.endTable(), own.ends());
    memory.putInts(at.itemTable(), own.items());
    setCursor(number, 0);
    last = number;
    memory.compareAndSet(at.state(), creating, StagingDescriptor.word(OPEN, number, 0, 1L << me));
    return new Entered(number, at, own);
  }

  private @Nullable Entered enter(long number) {
    StagingDescriptor.Pass at = memory.pass(StagingDescriptor.descriptor(number));
    long batches = memory.get(at.batches());
    long items = memory.get(at.items());
    if (batches < 0 || batches > memory.batchRoom() || items < 0 || items > memory.itemRoom()) {
      return null;
    }
    int[] ends = memory.getInts(at.endTable(), (int) batches);
    int[] numbers = memory.getInts(at.itemTable(), (int) items);
    setCursor(number, 0);
    while (true) {
      long word = memory.get(at.state());
      if (StagingDescriptor.state(word) != OPEN || StagingDescriptor.pass(word) != number) {
        setCursor(last, ALL); // Or others would take this job for one that is about to come.
        return null;
      }
      if (memory.compareAndSet(at.state(), word, word | 1L << me)) {
        last = number;
        return new Entered(number, at, new BatchOrder(numbers, ends));
      }
    }
  }

  /** Batches below {@code batch} are no longer needed here. */
  void advance(Entered pass, long batch) {
    setCursor(pass.number(), batch);
  }

  private void setCursor(long pass, long batch) {
    memory.set(StagingDescriptor.member(me) + MEMBER_CURSOR, StagingDescriptor.cursor(pass, batch));
  }

  /** This job needs nothing more of the pass. */
  void leave(Entered pass) {
    setCursor(pass.number(), ALL);
    removeMember(pass.number(), me);
  }

  /** Whether other jobs are in the pass. */
  boolean isShared(Entered pass) {
    long word = memory.get(pass.at().state());
    return StagingDescriptor.pass(word) == pass.number()
        && (StagingDescriptor.low(word) & ~(1L << me)) != 0;
  }

  /** Tells whether this job prepares batches of the pass. */
  void produces(Entered pass, boolean does) {
    long at = StagingDescriptor.member(me) + MEMBER_PRODUCES;
    if (does) {
      memory.set(at, pass.number());
    } else {
      memory.compareAndSet(at, pass.number(), 0); // It may say the next pass already.
    }
  }

  private void drop(long pass, int member) {
    if (removeMember(pass, member) && member != me) {
      counters.dropped.increment();
    }
  }

  private boolean removeMember(long pass, int member) {
    long at = memory.pass(StagingDescriptor.descriptor(pass)).state();
    while (true) {
      long word = memory.get(at);
      int state = StagingDescriptor.state(word);
      if (StagingDescriptor.pass(word) != pass
          || (state != OPEN && state != SLIDING)
          || !Members.contains(word, member)) {
        return false;
      }
      if (memory.compareAndSet(at, word, word & ~(1L << member))) {
        return true;
      }
    }
  }

  // ---- preparing

  /** Bytes of a slot; 0 as long as nobody knows. */
  long slotBytes() {
    return memory.get(SLOT_BYTES);
  }

  /** How many slots there are; 0 as long as nobody knows, or if not even two find room. */
  int slots() {
    long size = slotBytes();
    long count =
        size == 0
            ? 0
            : Math.min(StagingDescriptor.MAX_SLOTS, memory.get(StagingDescriptor.BUDGET) / size);
    return count < 2 ? 0 : (int) count;
  }

  /** Whether this job is the one that prepares the first batch of all, by which slots are sized. */
  boolean trySize() {
    long sizer = memory.get(SIZER);
    return sizer == job
        || ((sizer == 0 || !members.holdsOn(sizer)) && memory.compareAndSet(SIZER, sizer, job));
  }

  /** Leaves it to another. */
  void giveUpSizing() {
    memory.compareAndSet(SIZER, job, 0);
  }

  /** Sizes the slots, unless another has. */
  void size(long bytes) {
    memory.compareAndSet(SLOT_BYTES, 0, StagingFile.pages(Math.max(1, bytes)));
  }

  /**
   * The smallest batch that is still to be claimed; {@link #NOT_NOW} if all are but some may come
   * back, {@link #NEVER_MORE} if all are prepared.
   */
  int nextUnclaimed(Entered pass) {
    int none = NEVER_MORE;
    for (int batch = slowest(pass); batch < pass.order().batches(); batch++) {
      long claim = memory.get(pass.at().claim(batch));
      if (claimable(pass, claim)) {
        return batch;
      }
      if (StagingDescriptor.state(claim) == CLAIMED) {
        none = NOT_NOW;
      }
    }
    return none;
  }

  private boolean claimable(Entered pass, long claim) {
    return StagingDescriptor.pass(claim) != pass.number()
        || StagingDescriptor.state(claim) == UNCLAIMED
        || (StagingDescriptor.state(claim) == CLAIMED
            && !members.holdsOn(StagingDescriptor.middle(claim)));
  }

  /** The first batch that any member still needs. */
  private int slowest(Entered pass) {
    long word = memory.get(pass.at().state());
    long slowest = members.cursor(me);
    for (int member = 0; member < MAX_MEMBERS; member++) {
      if (StagingDescriptor.pass(word) == pass.number() && Members.contains(word, member)) {
        slowest = Math.min(slowest, members.cursor(member));
      }
    }
    long first = StagingDescriptor.cursor(pass.number(), 0);
    return (int) StagingDescriptor.middle(Math.max(first, slowest));
  }

  /** Claims the smallest unclaimed batch; if there is none, as {@link #nextUnclaimed}. */
  int claim(Entered pass) {
    while (isUnderWay(pass)) {
      int batch = nextUnclaimed(pass);
      if (batch < 0) {
        return batch;
      }
      long at = pass.at().claim(batch);
      long word = memory.get(at);
      if (claimable(pass, word) && memory.compareAndSet(at, word, claimed(pass))) {
        if (StagingDescriptor.pass(word) == pass.number()
            && StagingDescriptor.state(word) == CLAIMED) {
          counters.tookOver();
        }
        return batch;
      }
    }
    return NEVER_MORE;
  }

  private long claimed(Entered pass) {
    return StagingDescriptor.word(CLAIMED, pass.number(), job, 0);
  }

  private boolean isUnderWay(Entered pass) {
    return StagingDescriptor.pass(memory.get(pass.at().state())) == pass.number();
  }

  /** Gives a claim back, or says that nobody will stage the batch. */
  void unclaim(Entered pass, int batch, boolean forGood) {
    memory.compareAndSet(
        pass.at().claim(batch),
        claimed(pass),
        StagingDescriptor.word(forGood ? UNSTAGED : UNCLAIMED, pass.number(), 0, 0));
  }

  /**
   * A slot to fill; {@link #NOT_NOW} if all are in use, and who is waited for is counted; {@link
   * #NEVER_MORE} if there are none.
   */
  int takeSlot(Entered pass, Blocker blocker) {
    int slots = slotBytes() == 0 ? StagingDescriptor.MAX_SLOTS : slots();
    boolean any = false;
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(StagingDescriptor.slot(slot));
      any |= StagingDescriptor.state(word) != BROKEN;
      if (StagingDescriptor.state(word) == FREE && fill(slot, word, pass)) {
        return withinShare(slot, pass, blocker);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(StagingDescriptor.slot(slot));
      if (mayBeFilled(word, blocker) && fill(slot, word, pass)) {
        return withinShare(slot, pass, blocker);
      }
    }
    members.buryDead();
    return any ? NOT_NOW : NEVER_MORE;
  }

  /** Takes who is waited for, when a slot is. */
  static final class Blocker {
    private int member = -1;

    /** The member's number, -1 if it is not a member that is waited for. */
    int member() {
      return member;
    }
  }

  private boolean fill(int slot, long word, Entered pass) {
    return memory.compareAndSet(StagingDescriptor.slot(slot), word, filling(pass));
  }

  private long filling(Entered pass) {
    return StagingDescriptor.word(FILLING, pass.number(), job, 0);
  }

  private boolean mayBeFilled(long word, Blocker blocker) {
    return switch (StagingDescriptor.state(word)) {
      case FILLING -> !peers.alive(StagingDescriptor.middle(word));
      case READY ->
          StagingDescriptor.low(word) == 0
              && needless(StagingDescriptor.pass(word), StagingDescriptor.middle(word), blocker);
      default -> false;
    };
  }

  /** Whether nobody needs the batch any more, now and for ever. */
  private boolean needless(long pass, long batch, Blocker blocker) {
    StagingDescriptor.Pass at = memory.pass(StagingDescriptor.descriptor(pass));
    long word = memory.get(at.state());
    int state = StagingDescriptor.state(word);
    if (StagingDescriptor.pass(word) != pass) {
      return true;
    }
    if (state == CREATING || state == NEVER) {
      return false;
    }
    boolean open = state == OPEN;
    boolean newest = StagingDescriptor.pass(otherPass(pass)) < pass;
    for (int member = 0; member < MAX_MEMBERS; member++) {
      boolean inside = Members.contains(word, member);
      boolean needs =
          inside
              ? members.cursor(member) <= StagingDescriptor.cursor(pass, batch)
              : open
                  && newest
                  && members.job(member) != 0
                  && members.cursor(member) <= StagingDescriptor.cursor(pass, 0);
      if (needs && members.waitable(member)) {
        blocker.member = member;
        return false;
      }
      if (needs && inside) {
        drop(pass, member);
      }
    }
    return !open || slides(at.state(), word);
  }

  /**
   * From now on nobody enters the pass; false if somebody has since {@code word}, or it is gone.
   */
  private boolean slides(long at, long word) {
    while (true) {
      long now = memory.get(at);
      boolean same = StagingDescriptor.pass(now) == StagingDescriptor.pass(word);
      boolean entered = (StagingDescriptor.low(now) & ~StagingDescriptor.low(word)) != 0;
      if (!same || entered) {
        return false;
      }
      long sliding =
          StagingDescriptor.word(
              SLIDING, StagingDescriptor.pass(word), 0, StagingDescriptor.low(now));
      if (now == sliding || memory.compareAndSet(at, now, sliding)) {
        return true;
      }
    }
  }

  /** The word of the descriptor that is not of this pass. */
  private long otherPass(long pass) {
    return memory.get(memory.pass(StagingDescriptor.descriptor(pass + 1)).state());
  }

  /** A newer pass leaves half of the slots to those who are in the older one. */
  private int withinShare(int slot, Entered pass, Blocker blocker) {
    long other = otherPass(pass.number());
    boolean older =
        StagingDescriptor.pass(other) < pass.number() && StagingDescriptor.low(other) != 0;
    if (older && slots() != 0) {
      int used = 0;
      for (int i = 0; i < slots(); i++) {
        long word = memory.get(StagingDescriptor.slot(i));
        int state = StagingDescriptor.state(word);
        used +=
            (state == FILLING || state == READY) && StagingDescriptor.pass(word) == pass.number()
                ? 1
                : 0;
      }
      if (used > slots() / 2) {
        giveBack(slot, pass);
        blocker.member = Long.numberOfTrailingZeros(StagingDescriptor.low(other));
        return NOT_NOW;
      }
    }
    return slot;
  }

  /** A slot that was not filled after all. */
  void giveBack(int slot, Entered pass) {
    memory.compareAndSet(
        StagingDescriptor.slot(slot), filling(pass), StagingDescriptor.word(FREE, 0, 0, 0));
  }

  /** A slot that has no memory behind it. */
  void giveUp(int slot, Entered pass) {
    memory.compareAndSet(
        StagingDescriptor.slot(slot), filling(pass), StagingDescriptor.word(BROKEN, 0, 0, 0));
  }

  /** The slot has the batch; false if it is no longer this job's to publish. */
  boolean publish(Entered pass, int batch, int slot, int bytes) {
    memory.set(StagingDescriptor.slotLength(slot), bytes);
    long ready = StagingDescriptor.word(READY, pass.number(), batch, 0);
    if (!memory.compareAndSet(StagingDescriptor.slot(slot), filling(pass), ready)) {
      return false;
    }
    if (memory.compareAndSet(
        pass.at().claim(batch),
        claimed(pass),
        StagingDescriptor.word(STAGED, pass.number(), slot, 0))) {
      return true;
    }
    memory.compareAndSet(
        StagingDescriptor.slot(slot), ready, StagingDescriptor.word(FREE, 0, 0, 0));
    return false;
  }

  // ---- using

  /** How an attempt to take a batch ended; a slot from 0 on, or one of these. */
  static final int LOST = -3;

  static final int NOT_STAGED = -4;
  static final int NOBODY = -5;

  /** The claim as it is, by which a waiting job sees changes. */
  long claimWord(Entered pass, int batch) {
    return memory.get(pass.at().claim(batch));
  }

  /** Whether the word says that a job prepares the batch. */
  static boolean isClaimed(Entered pass, long claim) {
    return StagingDescriptor.pass(claim) == pass.number()
        && StagingDescriptor.state(claim) == CLAIMED;
  }

  /** Holds the slot of the batch; or says why there is none: {@link #NOT_NOW} and others. */
  int tryTake(Entered pass, int batch) {
    long at = pass.at().claim(batch);
    long claim = memory.get(at);
    int state =
        StagingDescriptor.pass(claim) == pass.number() ? StagingDescriptor.state(claim) : UNCLAIMED;
    if (state == STAGED) {
      int slot = (int) StagingDescriptor.middle(claim);
      return hold(slot, pass, batch) ? slot : LOST;
    }
    if (state == UNSTAGED) {
      return NOT_STAGED;
    }
    if (state == CLAIMED) {
      if (!members.holdsOn(StagingDescriptor.middle(claim))
          && memory.compareAndSet(
              at, claim, StagingDescriptor.word(UNCLAIMED, pass.number(), 0, 0))) {
        counters.tookOver();
      }
      return NOT_NOW;
    }
    return isUnderWay(pass) && members.anyProduces(pass.number()) ? NOT_NOW : NOBODY;
  }

  private boolean hold(int slot, Entered pass, int batch) {
    long at = StagingDescriptor.slot(slot);
    while (true) {
      long word = memory.get(at);
      if (StagingDescriptor.state(word) != READY
          || StagingDescriptor.pass(word) != pass.number()
          || StagingDescriptor.middle(word) != batch) {
        return false;
      }
      if (memory.compareAndSet(at, word, word | 1L << me)) {
        return true;
      }
    }
  }

  /** Bytes of the batch in a slot that this job holds. */
  int length(int slot) {
    return (int) memory.get(StagingDescriptor.slotLength(slot));
  }

  /**
   * Whether a slot that this job holds may be held for long. Whoever asks last sees the bits of all
   * who asked before, so that never half of the slots are kept.
   */
  boolean mayKeep() {
    int slots = slots();
    int held = 0;
    int mine = 0;
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(StagingDescriptor.slot(slot));
      boolean ready = StagingDescriptor.state(word) == READY;
      held += ready && StagingDescriptor.low(word) != 0 ? 1 : 0;
      mine += ready && Members.contains(word, me) ? 1 : 0;
    }
    return held < slots / 2 && mine <= Math.max(1, slots / 8);
  }

  /** The program has done with the bytes of a slot that this job holds. */
  void release(int slot) {
    long at = StagingDescriptor.slot(slot);
    while (true) {
      long word = memory.get(at);
      if (StagingDescriptor.state(word) != READY
          || !Members.contains(word, me)
          || memory.compareAndSet(at, word, word & ~(1L << me))) {
        return;
      }
    }
  }
}
