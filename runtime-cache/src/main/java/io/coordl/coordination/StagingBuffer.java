package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.ALL;
import static io.coordl.coordination.StagingDescriptor.BROKEN;
import static io.coordl.coordination.StagingDescriptor.BUDGET;
import static io.coordl.coordination.StagingDescriptor.CLAIMED;
import static io.coordl.coordination.StagingDescriptor.CREATING;
import static io.coordl.coordination.StagingDescriptor.FILLING;
import static io.coordl.coordination.StagingDescriptor.FREE;
import static io.coordl.coordination.StagingDescriptor.MAX_BATCHES;
import static io.coordl.coordination.StagingDescriptor.MAX_EPOCH;
import static io.coordl.coordination.StagingDescriptor.MAX_PARTICIPANTS;
import static io.coordl.coordination.StagingDescriptor.MAX_SLOTS;
import static io.coordl.coordination.StagingDescriptor.NEVER;
import static io.coordl.coordination.StagingDescriptor.OPEN;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PRODUCES;
import static io.coordl.coordination.StagingDescriptor.READY;
import static io.coordl.coordination.StagingDescriptor.SIZER;
import static io.coordl.coordination.StagingDescriptor.SLIDING;
import static io.coordl.coordination.StagingDescriptor.SLOT_BYTES;
import static io.coordl.coordination.StagingDescriptor.STAGED;
import static io.coordl.coordination.StagingDescriptor.UNCLAIMED;
import static io.coordl.coordination.StagingDescriptor.UNSTAGED;
import static io.coordl.coordination.StagingDescriptor.cursor;
import static io.coordl.coordination.StagingDescriptor.descriptor;
import static io.coordl.coordination.StagingDescriptor.epoch;
import static io.coordl.coordination.StagingDescriptor.low;
import static io.coordl.coordination.StagingDescriptor.middle;
import static io.coordl.coordination.StagingDescriptor.participant;
import static io.coordl.coordination.StagingDescriptor.slot;
import static io.coordl.coordination.StagingDescriptor.slotLength;
import static io.coordl.coordination.StagingDescriptor.state;
import static io.coordl.coordination.StagingDescriptor.word;

import io.coordl.host.JobLiveness;
import org.jspecify.annotations.Nullable;

/**
 * One job's view of the staging buffer of a pipeline: the buffer stores prepared batches in shared
 * memory until all jobs of an epoch have used them. Implements the coordinated prep of the CoorDL
 * paper (section 4.3), with a window instead of lockstep, for jobs that join, leave, stall and die.
 *
 * <p><b>Safety</b> does not depend on this class: every job walks the batches 0, 1, 2 ... of its
 * epoch on its own, in the order that all jobs of the epoch have adopted, and can prepare each of
 * them locally. So each job uses each batch exactly once; sharing decides only where the bytes come
 * from. All methods here are attempts that return immediately; {@link SharedEpoch} repeats them and
 * decides when to give up.
 *
 * <h2>Protocol</h2>
 *
 * <p>Every decision is one compare-and-set of one word ({@link StagingDescriptor}).
 *
 * <ul>
 *   <li><b>Epochs.</b> At most two are in progress, the newest and its predecessor. A job that
 *       begins an epoch enters the newest if that is OPEN and new to the job, and adopts its order.
 *       Otherwise it creates the next epoch with its own order, once all jobs have reached the
 *       newest (or it is no longer OPEN) and none is left in the predecessor, whose descriptor the
 *       next epoch reuses. So no job gets a batch twice, and no batch serves two epochs.
 *   <li><b>Preparing.</b> A producer first takes a slot (FILLING), then claims the smallest
 *       unclaimed batch: each claim has a slot, so the batch that the slowest job waits for always
 *       has one. Then it prepares the batch, copies it once, makes the slot READY, and finally
 *       makes the claim STAGED.
 *   <li><b>Using.</b> A job adds its bit to the holders in the slot's word, if that is still READY
 *       with this epoch and batch, copies the bytes, and removes the bit.
 *   <li><b>Reusing.</b> A READY slot without holders may be refilled once the cursor of every
 *       participant of its epoch is past its batch. The first reuse moves the epoch from OPEN to
 *       SLIDING, because no job can enter it any more. One word contains both the holders and the
 *       batch of a slot, so no job takes a slot that is being reused.
 * </ul>
 *
 * <p>A newer epoch may take only half of the slots while any job is in the older one, so the older
 * one can always progress. A slot is held only for the duration of a copy, so batches that a
 * program retains block no other job.
 *
 * <h2>Recovery after kill -9</h2>
 *
 * <ul>
 *   <li>A FILLING slot or a claim that bears a dead job's number: the next job that needs the slot
 *       or claim takes it over. Job numbers are never reused. None of the dead job's stores can
 *       arrive late, because the kernel releases its lock only after its last thread is gone.
 *   <li>A READY slot without a STAGED claim: reused once all jobs are past the batch, which is
 *       prepared again.
 *   <li>A CREATING epoch: the next job to begin an epoch stores its order there.
 *   <li>The dead job's bits among holders and participants: any job clears them, but only under the
 *       exclusive lock ({@link Participants#buryDead}), because participant numbers, unlike job
 *       numbers, are reused.
 * </ul>
 *
 * <h2>Which jobs are waited for</h2>
 *
 * <p>A slot is reused only after the slowest participant of the epoch is past its batch; the first
 * reuse also waits for participants that have not yet reached the epoch. Only jobs that are
 * running, progressing, and not blocked in another pipeline of the group are waited for ({@link
 * Participants#isProgressing}). All others are removed from the epoch; such a job continues locally
 * and rejoins at the next epoch. A suspended job's claims are taken over, but never the slots it
 * fills or holds: when it resumes, it writes only bytes that no other job reads, and reads only
 * bytes that no other job writes.
 *
 * <h2>Memory order</h2>
 *
 * <p>The bytes of a slot are stored before the CAS to READY (release) and read after a CAS from
 * READY (acquire). An order is stored before its epoch becomes OPEN; a reader that does not find
 * the same epoch OPEN after reading discards the order.
 *
 * <p>Thread-safe; lock-free except for {@link Participants#buryDead}.
 */
final class StagingBuffer {
  /** Not possible now, but perhaps later. */
  static final int NOT_NOW = -1;

  /** No longer possible in this epoch. */
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

  /** Whether no job has begun an epoch yet. */
  boolean isFresh() {
    return memory.get(memory.epoch(0).state()) == 0 && memory.get(memory.epoch(1).state()) == 0;
  }

  /** Whether other jobs are in an epoch that this job can no longer enter. */
  boolean comesLate() {
    for (int descriptor = 0; descriptor < 2; descriptor++) {
      long word = memory.get(memory.epoch(descriptor).state());
      if (state(word) == SLIDING && epoch(word) > last && low(word) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Enters the newest epoch or creates the next one; null if neither is possible now. */
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
      return null; // Both words changed between the two reads.
    }
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      if (Participants.contains(oldest, participant)
          && (participant == me || !participants.isProgressing(participant))) {
        drop(epoch(oldest), participant);
      }
    }
    if (state == OPEN && expected(newest, number) >= 0) {
      return null; // Otherwise the jobs would stay an epoch apart.
    }
    return low(oldest) == 0 ? create(number + 1, oldest, own) : null;
  }

  /** Returns a participant that has yet to reach the newest epoch and is expected to; else -1. */
  private int expected(long word, long epoch) {
    for (int participant = 0; participant < MAX_PARTICIPANTS; participant++) {
      if (participant != me
          && !Participants.contains(word, participant)
          && participants.job(participant) != 0
          && participants.cursor(participant) <= cursor(epoch, 0)
          && participants.isProgressing(participant)) {
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
      setCursor(last, ALL); // Otherwise other jobs would keep expecting this one.
      return null;
    }
    last = number;
    return new Entered(number, at, new BatchOrder(numbers, ends));
  }

  /** Publishes that this job no longer needs the batches below {@code batch}. */
  void advance(Entered epoch, long batch) {
    setCursor(epoch.number(), batch);
  }

  private void setCursor(long epoch, long batch) {
    memory.set(participant(me) + PARTICIPANT_CURSOR, cursor(epoch, batch));
  }

  /** Removes this job from the epoch, of which it needs no more batches. */
  void leave(Entered epoch) {
    setCursor(epoch.number(), ALL);
    removeParticipant(epoch.number(), me);
  }

  boolean isShared(Entered epoch) {
    long word = memory.get(epoch.at().state());
    return epoch(word) == epoch.number() && (low(word) & ~(1L << me)) != 0;
  }

  /** Publishes whether this job prepares batches of the epoch. */
  void produces(Entered epoch, boolean producing) {
    long at = participant(me) + PARTICIPANT_PRODUCES;
    if (producing) {
      memory.set(at, epoch.number());
    } else {
      memory.compareAndSet(at, epoch.number(), 0); // It may already hold the next epoch.
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

  /** Returns the size of a slot in bytes; 0 while unknown. */
  long slotBytes() {
    return memory.get(SLOT_BYTES);
  }

  /** Returns the number of slots; 0 while unknown, or if fewer than two fit. */
  int slots() {
    long size = slotBytes();
    long count = size == 0 ? 0 : Math.min(MAX_SLOTS, memory.get(BUDGET) / size);
    return count < 2 ? 0 : (int) count;
  }

  /** Claims the very first batch, which determines the slot size; true if this job prepares it. */
  boolean trySize() {
    long sizer = memory.get(SIZER);
    return sizer == job
        || ((sizer == 0 || !participants.willFinish(sizer))
            && memory.compareAndSet(SIZER, sizer, job));
  }

  /** Leaves sizing the slots to another job. */
  void giveUpSizing() {
    memory.compareAndSet(SIZER, job, 0);
  }

  /** Sets the slot size unless another job has. */
  void size(long bytes) {
    memory.compareAndSet(SLOT_BYTES, 0, StagingFile.pages(Math.max(1, bytes)));
  }

  /**
   * Returns the smallest unclaimed batch; {@link #NOT_NOW} if all are claimed but some claims may
   * be released, {@link #NEVER_MORE} if each is staged or never will be.
   */
  int nextUnclaimed(Entered epoch) {
    int none = NEVER_MORE;
    for (int batch = slowest(epoch); batch < epoch.order().batches(); batch++) {
      long claim = memory.get(epoch.at().claim(batch));
      if (isClaimable(epoch, claim)) {
        return batch;
      }
      if (state(claim) == CLAIMED) {
        none = NOT_NOW;
      }
    }
    return none;
  }

  private boolean isClaimable(Entered epoch, long claim) {
    return epoch(claim) != epoch.number()
        || state(claim) == UNCLAIMED
        || (state(claim) == CLAIMED && !participants.willFinish(middle(claim)));
  }

  /** Returns the first batch that any participant still needs. */
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

  /**
   * Claims the smallest unclaimed batch; if there is none, returns as {@link #nextUnclaimed} does.
   */
  int claim(Entered epoch) {
    while (isInProgress(epoch)) {
      int batch = nextUnclaimed(epoch);
      if (batch < 0) {
        return batch;
      }
      long at = epoch.at().claim(batch);
      long word = memory.get(at);
      if (isClaimable(epoch, word) && memory.compareAndSet(at, word, claimed(epoch))) {
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

  private boolean isInProgress(Entered epoch) {
    return epoch(memory.get(epoch.at().state())) == epoch.number();
  }

  /** Releases a claim; if {@code forGood}, marks the batch so that no job stages it. */
  void unclaim(Entered epoch, int batch, boolean forGood) {
    memory.compareAndSet(
        epoch.at().claim(batch),
        claimed(epoch),
        word(forGood ? UNSTAGED : UNCLAIMED, epoch.number(), 0, 0));
  }

  /**
   * Takes a slot to fill. {@link #NOT_NOW} if all are in use; {@code blocker} then names the
   * participant to wait for, if any. {@link #NEVER_MORE} if there are no usable slots.
   */
  int takeSlot(Entered epoch, Blocker blocker) {
    int slots = slotBytes() == 0 ? MAX_SLOTS : slots();
    boolean anyUsable = false;
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      if (tryRetireOld(word, epoch) && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      anyUsable |= state(word) != BROKEN;
      if (state(word) == FREE && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    for (int slot = 0; slot < slots; slot++) {
      long word = memory.get(slot(slot));
      if (tryReuse(word, blocker) && fill(slot, word, epoch)) {
        return withinShare(slot, epoch, blocker);
      }
    }
    participants.buryDead();
    return anyUsable ? NOT_NOW : NEVER_MORE;
  }

  /** The participant that prevents a slot from being reused. */
  static final class Blocker {
    /** Participant number, or -1 if no participant is waited for. */
    int participant = -1;
  }

  private boolean fill(int slot, long word, Entered epoch) {
    return memory.compareAndSet(slot(slot), word, filling(epoch));
  }

  private long filling(Entered epoch) {
    return word(FILLING, epoch.number(), job, 0);
  }

  /**
   * Returns true if the batch belongs to an earlier epoch that no job is in or will enter; closes
   * that epoch to new jobs if necessary. Such a slot is preferred to a free one, because its pages
   * are already allocated, and page-locked if a job locks pages; a free slot has usually never held
   * a batch.
   */
  private boolean tryRetireOld(long word, Entered epoch) {
    long of = epoch(word);
    if (state(word) != READY || low(word) != 0 || of >= epoch.number()) {
      return false;
    }
    long at = memory.epoch(descriptor(of)).state();
    long now = memory.get(at);
    return epoch(now) != of
        || (low(now) == 0 && (state(now) == SLIDING || (state(now) == OPEN && trySlide(at, now))));
  }

  /**
   * Whether a slot may be filled again; if it holds a batch, tries to retire that first. On
   * failure, {@code blocker} names the participant to wait for, if any.
   */
  private boolean tryReuse(long word, Blocker blocker) {
    return switch (state(word)) {
      case FILLING -> !liveness.alive(middle(word));
      case READY -> low(word) == 0 && tryRetire(epoch(word), middle(word), blocker);
      default -> false;
    };
  }

  /**
   * Returns true if no job needs the batch now or later. To achieve that, removes from its epoch
   * the jobs that make no progress, and closes the epoch to new jobs.
   */
  private boolean tryRetire(long epoch, long batch, Blocker blocker) {
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
      if (needs && participants.isProgressing(participant)) {
        blocker.participant = participant;
        return false;
      }
      if (needs && inside) {
        drop(epoch, participant);
      }
    }
    return !open || trySlide(at.state(), word);
  }

  /**
   * Closes the epoch to new jobs; false if one entered since {@code word}, or the epoch is gone.
   */
  private boolean trySlide(long at, long word) {
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

  /** Returns the state word of the other epoch descriptor. */
  private long otherEpoch(long epoch) {
    return memory.get(memory.epoch(descriptor(epoch + 1)).state());
  }

  /**
   * Returns the slot; or gives it back and returns {@link #NOT_NOW}, if this epoch already has half
   * of the slots and jobs are still in an older one.
   */
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

  /** Frees a slot that was not filled after all. */
  void giveBack(int slot, Entered epoch) {
    memory.compareAndSet(slot(slot), filling(epoch), word(FREE, 0, 0, 0));
  }

  /** Marks a slot for which there is no memory. */
  void giveUp(int slot, Entered epoch) {
    memory.compareAndSet(slot(slot), filling(epoch), word(BROKEN, 0, 0, 0));
  }

  /** Publishes the filled slot; false if the slot or claim no longer belongs to this job. */
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

  /** Results of {@link #tryTake}, besides a slot number and {@link #NOT_NOW}. */
  static final int LOST = -3;

  static final int NOT_STAGED = -4;
  static final int NOBODY = -5;

  /** Returns the current claim word, which a waiting job watches for changes. */
  long claimWord(Entered epoch, int batch) {
    return memory.get(epoch.at().claim(batch));
  }

  /** Whether the word marks a batch that a job is preparing. */
  static boolean isClaimed(Entered epoch, long claim) {
    return epoch(claim) == epoch.number() && state(claim) == CLAIMED;
  }

  /**
   * Holds the slot of the batch and returns its number; if there is none, returns the reason, such
   * as {@link #NOT_NOW}.
   */
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
    if (isInProgress(epoch) && participants.anyProduces(epoch.number())) {
      return NOT_NOW;
    }
    // The last producer may have published the batch just before it stopped: check once more.
    return memory.get(at) == claim ? NOBODY : NOT_NOW;
  }

  private boolean lease(int slot, Entered epoch, int batch) {
    return memory.add(
        slot(slot),
        me,
        word -> state(word) == READY && epoch(word) == epoch.number() && middle(word) == batch);
  }

  /** Returns the length in bytes of the batch in a slot that this job holds. */
  int length(int slot) {
    return (int) memory.get(slotLength(slot));
  }

  /** Releases a slot whose bytes this job has copied. */
  void release(int slot) {
    memory.remove(slot(slot), me, word -> state(word) == READY);
  }
}
