package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.ALL;
import static io.coordl.staging.StagingDescriptor.BROKEN;
import static io.coordl.staging.StagingDescriptor.BUDGET;
import static io.coordl.staging.StagingDescriptor.CLAIMED;
import static io.coordl.staging.StagingDescriptor.CREATING;
import static io.coordl.staging.StagingDescriptor.FILLING;
import static io.coordl.staging.StagingDescriptor.FREE;
import static io.coordl.staging.StagingDescriptor.MAX_BATCHES;
import static io.coordl.staging.StagingDescriptor.MAX_EPOCH;
import static io.coordl.staging.StagingDescriptor.MAX_PARTICIPANTS;
import static io.coordl.staging.StagingDescriptor.MAX_SLOTS;
import static io.coordl.staging.StagingDescriptor.NEVER;
import static io.coordl.staging.StagingDescriptor.OPEN;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_PRODUCES;
import static io.coordl.staging.StagingDescriptor.READY;
import static io.coordl.staging.StagingDescriptor.SIZER;
import static io.coordl.staging.StagingDescriptor.SLIDING;
import static io.coordl.staging.StagingDescriptor.SLOT_BYTES;
import static io.coordl.staging.StagingDescriptor.STAGED;
import static io.coordl.staging.StagingDescriptor.UNCLAIMED;
import static io.coordl.staging.StagingDescriptor.UNSTAGED;
import static io.coordl.staging.StagingDescriptor.cursor;
import static io.coordl.staging.StagingDescriptor.descriptor;
import static io.coordl.staging.StagingDescriptor.epoch;
import static io.coordl.staging.StagingDescriptor.low;
import static io.coordl.staging.StagingDescriptor.middle;
import static io.coordl.staging.StagingDescriptor.participant;
import static io.coordl.staging.StagingDescriptor.slot;
import static io.coordl.staging.StagingDescriptor.slotLength;
import static io.coordl.staging.StagingDescriptor.state;
import static io.coordl.staging.StagingDescriptor.word;

import io.coordl.shared.JobLiveness;
import org.jspecify.annotations.Nullable;

/**
 * The staging buffer of one pipeline, as one of its jobs uses it: prepared batches in shared memory
 * until all jobs of an epoch have used them. After the coordinated prep of the CoorDL paper
 * (section 4.3), with a window instead of lock step, and jobs that come, go, stop and die.
 *
 * <p><b>What makes it safe</b> is not in here: every job walks the batches of its epoch 0, 1, 2 ...
 * by itself, and can prepare each of them by itself, in the order that all jobs of the epoch have
 * adopted. So each job uses each batch exactly once whatever is shared; what is shared decides only
 * where the bytes come from. All steps here are attempts that end at once; {@link SharedEpoch}
 * repeats them, and gives up.
 *
 * <h2>Protocol</h2>
 *
 * <p>Everything is decided by a compare-and-set of one word ({@link StagingDescriptor}).
 *
 * <ul>
 *   <li><b>Epochs.</b> Two may be under way, the newest and the one before. A job that begins an
 *       epoch enters the newest if that is OPEN and new to it, and adopts its order; else it
 *       creates the next one with its own order, once all have come to the newest and nobody is
 *       left in the one before, whose descriptor it takes. So no batch serves a job twice, nor two
 *       epochs.
 *   <li><b>Preparing.</b> A producer first takes a slot (FILLING), then claims the smallest
 *       unclaimed batch: each claim has a slot, so the batch that the slowest job waits for is
 *       never without one. Then it prepares, copies once, makes the slot READY and at last the
 *       claim STAGED.
 *   <li><b>Using.</b> A job adds its bit to the holders in the slot's word, if that still says
 *       READY with this epoch and batch, copies the bytes, and takes the bit away.
 *   <li><b>Giving up.</b> A READY slot without holders may be filled anew once the cursor of every
 *       participant of its epoch is past its batch. The first time that happens the epoch goes from
 *       OPEN to SLIDING, since from then on it cannot be entered any more. Holders and what is in
 *       the slot are one word, so no job takes what is being given up.
 * </ul>
 *
 * <p>A newer epoch may take half of the slots while any job is in the older one, so that those can
 * always go on. No slot is held longer than for a copy: what programs keep blocks nobody.
 *
 * <h2>What a kill -9 leaves</h2>
 *
 * <ul>
 *   <li>A slot FILLING or a claim, with the number of a dead job, which is never given again: the
 *       next job that needs it takes it over. None of the dead job's stores can come late, for the
 *       kernel gives up its lock only when its last thread is gone.
 *   <li>A slot READY without a claim STAGED: given up when all are past the batch, which is
 *       prepared again.
 *   <li>An epoch CREATING: the next job that begins puts its order there.
 *   <li>Its bits among holders and participants: cleared by any job, but only alone ({@link
 *       Participants#buryDead}), since the number of a participant, unlike that of a job, is given
 *       again.
 * </ul>
 *
 * <h2>Which jobs are waited for</h2>
 *
 * <p>Slots that are not free wait for the slowest participant of the epoch, and before the first is
 * given up for participants that have not yet come to it: but only for those that run, are not
 * stopped, do not wait in another pipeline of the group themselves, and get on ({@link
 * Participants#waitable}). Others are taken out of the epoch. Such a job goes on by itself and is
 * back with the next epoch. A stopped job's claims are taken over, but never its slots, neither
 * those it fills nor those it holds: whatever it does when it goes on, it does to bytes that no
 * other job reads.
 *
 * <h2>Memory order</h2>
 *
 * <p>The bytes of a slot are stored before the CAS to READY, which releases, and read after a CAS
 * from READY, which acquires. An order is stored before its epoch becomes OPEN; a reader finds the
 * same epoch OPEN afterwards, when it enters, or throws the order away.
 *
 * <p>Thread-safe and lock-free.
 */
final class StagingBuffer {
  /** Nothing now; perhaps later. */
  static final int NOT_NOW = -1;

  /** Nothing in this epoch any more. */
  static final int NEVER_MORE = -2;

  private final StagingMemory memory;
  final Participants participants;
  private final JobLiveness liveness;
  private final StagingCounters counters;
  private final long job;
  private final int me;

  private volatile long last;

  StagingBuffer(
      StagingMemory memory,
      Participants participants,
      JobLiveness liveness,
      StagingCounters counters,
      long job,
      int me) {
    this.memory = memory;
    this.participants = participants;
    this.liveness = liveness;
    this.counters = counters;
    this.job = job;
    this.me = me;
  }

  record Entered(long number, StagingDescriptor.Epoch at, BatchOrder order) {}

  // ---- epochs

  /** Whether an epoch with this order can be created. */
  boolean fits(BatchOrder order) {
    return order.items.length <= memory.itemRoom()
        && order.batches() <= memory.batchRoom()
        && order.batches() <= MAX_BATCHES
        && last < MAX_EPOCH - 2;
  }

  /** Whether no epoch was begun by anybody. */
  boolean isFresh() {
    return memory.get(memory.epoch(0).state()) == 0 && memory.get(memory.epoch(1).state()) == 0;
  }

  /** Whether others are in the midst of an epoch that this job cannot enter. */
  boolean comesLate() {
    for (int descriptor = 0; descriptor < 2; descriptor++) {
      long word = memory.get(memory.epoch(descriptor).state());
      if (state(word) == SLIDING && epoch(word) > last && low(word) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Begins the newest epoch or the next one; null if that is not possible now. */
  @Nullable Entered tryBegin(BatchOrder own) {
    participants.buryDead();
    long word0 = memory.get(memory.epoch(0).state());
    long word1 = memory.get(memory.epoch(1).state());
    long newest = epoch(word0) > epoch(word1) ? word0 : word1;
    long number = epoch(newest);
    int state = state(newest);
    if (state == OPEN && number > last) {
      return enter(number);
    }
    if (state == CREATING) {
      boolean dead = !liveness.alive(middle(newest));
      return dead ? create(number, newest, own) : null;
    }
    long oldest = newest == word0 ? word1 : word0;
    if (state(oldest) == CREATING) {
      return null; // Both words changed between the two readings.
    }
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      if (Participants.contains(oldest, participant)
          && (participant == me || !participants.waitable(participant))) {
        drop(epoch(oldest), participant);
      }
    }
    if (state == OPEN && awaited(newest, number) >= 0) {
      return null; // Else they would enter the next one, and all be an epoch apart.
    }
    return low(oldest) == 0 ? create(number + 1, oldest, own) : null;
  }

  /** A participant that has yet to come to the newest epoch and may be expected to; -1 if none. */
  private int awaited(long word, long epoch) {
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      if (participant != me
          && !Participants.contains(word, participant)
          && participants.job(participant) != 0
          && participants.cursor(participant) <= cursor(epoch, 0)
          && participants.waitable(participant)) {
        return participant;
      }
    }
    return -1;
  }

  private @Nullable Entered create(long number, long before, BatchOrder own) {
    StagingDescriptor.Epoch at = memory.epoch(descriptor(number));
    long creating = word(CREATING, number, job, 0);
    if (!memory.compareAndSet(at.state(), before, creating)) {
      return null;
    }
    memory.set(at.batches(), own.batches());
    memory.set(at.items(), own.items.length);
    memory.putInts(at.endTable(), own.ends);
    memory.putInts(at.itemTable(), own.items);
    setCursor(number, 0);
    last = number;
    memory.compareAndSet(at.state(), creating, word(OPEN, number, 0, 1L << me));
    return new Entered(number, at, own);
  }

  private @Nullable Entered enter(long number) {
    StagingDescriptor.Epoch at = memory.epoch(descriptor(number));
    long batches = memory.get(at.batches());
    long items = memory.get(at.items());
    if (batches < 0 || batches > memory.batchRoom() || items < 0 || items > memory.itemRoom()) {
      return null;
    }
    int[] ends = memory.getInts(at.endTable(), (int) batches);
    int[] numbers = memory.getInts(at.itemTable(), (int) items);
    setCursor(number, 0);
    if (!memory.add(at.state(), me, word -> state(word) == OPEN && epoch(word) == number)) {
      setCursor(last, ALL); // Or others would take this job for one that is about to come.
      return null;
    }
    last = number;
    return new Entered(number, at, new BatchOrder(numbers, ends));
  }

  /** Batches below {@code batch} are no longer needed here. */
  void advance(Entered epoch, long batch) {
    setCursor(epoch.number(), batch);
  }

  private void setCursor(long epoch, long batch) {
    memory.set(participant(me) + PARTICIPANT_CURSOR, cursor(epoch, batch));
  }

  /** This job needs nothing more of the epoch. */
  void leave(Entered epoch) {
    setCursor(epoch.number(), ALL);
    removeParticipant(epoch.number(), me);
  }

  boolean isShared(Entered epoch) {
    long word = memory.get(epoch.at().state());
    return epoch(word) == epoch.number() && (low(word) & ~(1L << me)) != 0;
  }

  /** Tells whether this job prepares batches of the epoch. */
  void produces(Entered epoch, boolean does) {
    long at = participant(me) + PARTICIPANT_PRODUCES;
    if (does) {
      memory.set(at, epoch.number());
    } else {
      memory.compareAndSet(at, epoch.number(), 0); // It may say the next epoch already.
    }
  }

  private void drop(long epoch, int participant) {
    if (removeParticipant(epoch, participant) && participant != me) {
      counters.count(sum -> sum.dropped++);
    }
  }

  private boolean removeParticipant(long epoch, int participant) {
    return memory.remove(
        memory.epoch(descriptor(epoch)).state(),
        participant,
        word -> epoch(word) == epoch && Participants.isEntered(word));
  }

  // ---- preparing

  /** Bytes of a slot; 0 as long as it is unknown. */
  long slotBytes() {
    return memory.get(SLOT_BYTES);
  }

  /** How many slots there are; 0 as long as that is unknown, or if not even two find room. */
  int slots() {
    long size = slotBytes();
    long count = size == 0 ? 0 : Math.min(MAX_SLOTS, memory.get(BUDGET) / size);
    return count < 2 ? 0 : (int) count;
  }

  /** Whether this job is the one that prepares the first batch of all, by which slots are sized. */
  boolean trySize() {
    long sizer = memory.get(SIZER);
    return sizer == job
        || ((sizer == 0 || !participants.willFinish(sizer))
            && memory.compareAndSet(SIZER, sizer, job));
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
  int nextUnclaimed(Entered epoch) {
    int none = NEVER_MORE;
    for (int batch = slowest(epoch); batch < epoch.order().batches(); batch++) {
      long claim = memory.get(epoch.at().claim(batch));
      if (claimable(epoch, claim)) {
        return batch;
      }
      if (state(claim) == CLAIMED) {
        none = NOT_NOW;
      }
    }
    return none;
  }

  private boolean claimable(Entered epoch, long claim) {
    return epoch(claim) != epoch.number()
        || state(claim) == UNCLAIMED
        || (state(claim) == CLAIMED && !participants.willFinish(middle(claim)));
  }

  /** The first batch that any participant still needs. */
  private int slowest(Entered epoch) {
    long word = memory.get(epoch.at().state());
    long slowest = participants.cursor(me);
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      if (epoch(word) == epoch.number() && Participants.contains(word, participant)) {
        slowest = Math.min(slowest, participants.cursor(participant));
      }
    }
    long first = cursor(epoch.number(), 0);
    return (int) middle(Math.max(first, slowest));
  }

  /** Claims the smallest unclaimed batch; if there is none, as {@link #nextUnclaimed}. */
  int claim(Entered epoch) {
    while (isUnderWay(epoch)) {
      int batch = nextUnclaimed(epoch);
      if (batch < 0) {
        return batch;
      }
      long at = epoch.at().claim(batch);
      long word = memory.get(at);
      if (claimable(epoch, word) && memory.compareAndSet(at, word, claimed(epoch))) {
        if (epoch(word) == epoch.number() && state(word) == CLAIMED) {
          counters.count(sum -> sum.takeOvers++);
        }
        return batch;
      }
    }
    return NEVER_MORE;
  }

  private long claimed(Entered epoch) {
    return word(CLAIMED, epoch.number(), job, 0);
  }

  private boolean isUnderWay(Entered epoch) {
    return epoch(memory.get(epoch.at().state())) == epoch.number();
  }

  /** Gives a claim back, or says that no job will stage the batch. */
  void unclaim(Entered epoch, int batch, boolean forGood) {
    memory.compareAndSet(
        epoch.at().claim(batch),
        claimed(epoch),
        word(forGood ? UNSTAGED : UNCLAIMED, epoch.number(), 0, 0));
  }

  /**
   * A slot to fill; {@link #NOT_NOW} if all are in use, and the job that is waited for is counted;
   * {@link #NEVER_MORE} if there are none.
   */
  int takeSlot(Entered epoch, Blocker blocker) {
    int slots = slotBytes() == 0 ? MAX_SLOTS : slots();
    boolean any = false;
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      if (isOver(word, epoch) && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      any |= state(word) != BROKEN;
      if (state(word) == FREE && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      if (mayBeFilled(word, blocker) && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    participants.buryDead();
    return any ? NOT_NOW : NEVER_MORE;
  }

  /** The participant that is waited for when a slot is. */
  static final class Blocker {
    /** Its number, -1 if it is not a participant that is waited for. */
    int participant = -1;
  }

  private boolean fill(int slot, long word, Entered epoch) {
    return memory.compareAndSet(slot(slot), word, filling(epoch));
  }

  private long filling(Entered epoch) {
    return word(FILLING, epoch.number(), job, 0);
  }

  /**
   * Whether the batch belongs to an earlier epoch that no job is in or will enter. Such a slot is
   * preferred to a free one, which has usually never held a batch: its pages are already allocated,
   * and page-locked if a job does that.
   */
  private boolean isOver(long word, Entered epoch) {
    long of = epoch(word);
    if (state(word) != READY || low(word) != 0 || of >= epoch.number()) {
      return false;
    }
    long at = memory.epoch(descriptor(of)).state();
    long now = memory.get(at);
    return epoch(now) != of
        || (low(now) == 0 && (state(now) == SLIDING || (state(now) == OPEN && slides(at, now))));
  }

  private boolean mayBeFilled(long word, Blocker blocker) {
    return switch (state(word)) {
      case FILLING -> !liveness.alive(middle(word));
      case READY -> low(word) == 0 && needless(epoch(word), middle(word), blocker);
      default -> false;
    };
  }

  /** Whether no job needs the batch any more, now and for ever. */
  private boolean needless(long epoch, long batch, Blocker blocker) {
    StagingDescriptor.Epoch at = memory.epoch(descriptor(epoch));
    long word = memory.get(at.state());
    int state = state(word);
    if (epoch(word) != epoch) {
      return true;
    }
    if (state == CREATING || state == NEVER) {
      return false;
    }
    boolean open = state == OPEN;
    boolean newest = epoch(otherEpoch(epoch)) < epoch;
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      boolean inside = Participants.contains(word, participant);
      boolean needs =
          inside
              ? participants.cursor(participant) <= cursor(epoch, batch)
              : open
                  && newest
                  && participants.job(participant) != 0
                  && participants.cursor(participant) <= cursor(epoch, 0);
      if (needs && participants.waitable(participant)) {
        blocker.participant = participant;
        return false;
      }
      if (needs && inside) {
        drop(epoch, participant);
      }
    }
    return !open || slides(at.state(), word);
  }

  /** From now on no job enters the epoch; false if one has since {@code word}, or it is gone. */
  private boolean slides(long at, long word) {
    while (true) {
      long now = memory.get(at);
      boolean same = epoch(now) == epoch(word);
      boolean entered = (low(now) & ~low(word)) != 0;
      if (!same || entered) {
        return false;
      }
      long sliding = word(SLIDING, epoch(word), 0, low(now));
      if (now == sliding || memory.compareAndSet(at, now, sliding)) {
        return true;
      }
    }
  }

  /** The word of the descriptor that is not of this epoch. */
  private long otherEpoch(long epoch) {
    return memory.get(memory.epoch(descriptor(epoch + 1)).state());
  }

  /** A newer epoch leaves half of the slots to the jobs in the older one. */
  private int withinShare(int slot, Entered epoch, Blocker blocker) {
    long other = otherEpoch(epoch.number());
    boolean older = epoch(other) < epoch.number() && low(other) != 0;
    if (older && slots() != 0) {
      int used = 0;
      for (int i = 0; i < slots(); i++) {
        long word = memory.get(slot(i));
        int state = state(word);
        used += (state == FILLING || state == READY) && epoch(word) == epoch.number() ? 1 : 0;
      }
      if (used > slots() / 2) {
        giveBack(slot, epoch);
        blocker.participant = Long.numberOfTrailingZeros(low(other));
        return NOT_NOW;
      }
    }
    return slot;
  }

  /** A slot that was not filled after all. */
  void giveBack(int slot, Entered epoch) {
    memory.compareAndSet(slot(slot), filling(epoch), word(FREE, 0, 0, 0));
  }

  /** A slot that has no memory behind it. */
  void giveUp(int slot, Entered epoch) {
    memory.compareAndSet(slot(slot), filling(epoch), word(BROKEN, 0, 0, 0));
  }

  /** The slot has the batch; false if it is no longer this job's to publish. */
  boolean publish(Entered epoch, int batch, int slot, int bytes) {
    memory.set(slotLength(slot), bytes);
    long ready = word(READY, epoch.number(), batch, 0);
    if (!memory.compareAndSet(slot(slot), filling(epoch), ready)) {
      return false;
    }
    if (memory.compareAndSet(
        epoch.at().claim(batch), claimed(epoch), word(STAGED, epoch.number(), slot, 0))) {
      return true;
    }
    memory.compareAndSet(slot(slot), ready, word(FREE, 0, 0, 0));
    return false;
  }

  // ---- using

  /** How an attempt to take a batch ended; a slot from 0 on, or one of these. */
  static final int LOST = -3;

  static final int NOT_STAGED = -4;
  static final int NOBODY = -5;

  /** The claim as it is, by which a waiting job sees changes. */
  long claimWord(Entered epoch, int batch) {
    return memory.get(epoch.at().claim(batch));
  }

  /** Whether the word says that a job prepares the batch. */
  static boolean isClaimed(Entered epoch, long claim) {
    return epoch(claim) == epoch.number() && state(claim) == CLAIMED;
  }

  /** Leases the slot of the batch; or says why there is none: {@link #NOT_NOW} and others. */
  int tryTake(Entered epoch, int batch) {
    long at = epoch.at().claim(batch);
    long claim = memory.get(at);
    int state = epoch(claim) == epoch.number() ? state(claim) : UNCLAIMED;
    if (state == STAGED) {
      int slot = (int) middle(claim);
      return lease(slot, epoch, batch) ? slot : LOST;
    }
    if (state == UNSTAGED) {
      return NOT_STAGED;
    }
    if (state == CLAIMED) {
      if (!participants.willFinish(middle(claim))
          && memory.compareAndSet(at, claim, word(UNCLAIMED, epoch.number(), 0, 0))) {
        counters.count(sum -> sum.takeOvers++);
      }
      return NOT_NOW;
    }
    if (isUnderWay(epoch) && participants.anyProduces(epoch.number())) {
      return NOT_NOW;
    }
    // The last producer may have published the batch just before it stopped: look once more.
    return memory.get(at) == claim ? NOBODY : NOT_NOW;
  }

  private boolean lease(int slot, Entered epoch, int batch) {
    return memory.add(
        slot(slot),
        me,
        word -> state(word) == READY && epoch(word) == epoch.number() && middle(word) == batch);
  }

  /** Bytes of the batch in a slot that this job leases. */
  int length(int slot) {
    return (int) memory.get(slotLength(slot));
  }

  /** This job has copied the bytes of a slot that it leases. */
  void release(int slot) {
    memory.remove(slot(slot), me, word -> state(word) == READY);
  }
}
