package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.ALL;
import static io.coordl.coordination.StagingDescriptor.BROKEN;
import static io.coordl.coordination.StagingDescriptor.BUDGET;
import static io.coordl.coordination.StagingDescriptor.CREATING;
import static io.coordl.coordination.StagingDescriptor.FILLING;
import static io.coordl.coordination.StagingDescriptor.FREE;
import static io.coordl.coordination.StagingDescriptor.OPEN;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BLOCKED;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_CURSOR;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_JOB;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PID;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PRODUCES;
import static io.coordl.coordination.StagingDescriptor.READY;
import static io.coordl.coordination.StagingDescriptor.SIZER;
import static io.coordl.coordination.StagingDescriptor.SLIDING;
import static io.coordl.coordination.StagingDescriptor.STAGED;
import static io.coordl.coordination.StagingDescriptor.UNCLAIMED;
import static io.coordl.coordination.StagingDescriptor.UNSTAGED;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.coordination.StagingBuffer.Blocker;
import io.coordl.coordination.StagingBuffer.Entered;
import io.coordl.host.JobLiveness;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Each step of the protocol alone, on one thread, with the test's memory and clock. */
class StagingBufferTest {
  private static final int BATCHES = 3;
  private static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofNanos(300),
          Duration.ofNanos(200),
          Duration.ofNanos(400),
          Duration.ofNanos(50),
          Duration.ofNanos(1_000));

  private final Words memory = new Words(2 * BATCHES, BATCHES);
  private final Set<Long> living = new HashSet<>();
  private final Words.Time clock = new Words.Time();

  /** A job with its view of the buffer. */
  private final class Job {
    final long number;
    final StagingCounters counters = new StagingCounters();
    final StagingBuffer buffer;
    final int participant;

    Job(long number) {
      this.number = number;
      living.add(number);
      assertThat(Participants.enter(memory, number, 1_000 + number, living::contains)).isTrue();
      JobLiveness liveness = Words.liveness(living);
      Participants participants = new Participants(memory, liveness, clock, TIMEOUTS, number);
      participant = participants.participantOf(number);
      buffer = new StagingBuffer(memory, participants, liveness, counters, number, participant);
    }

    Entered begin() {
      return buffer.tryBegin(order((int) number));
    }

    void beat() {
      long at = StagingDescriptor.participant(participant) + PARTICIPANT_BEAT;
      memory.set(at, memory.get(at) + 1);
    }

    /** Takes a slot, claims the next batch and publishes it. */
    int stage(Entered epoch) {
      int slot = buffer.takeSlot(epoch, new Blocker());
      int batch = buffer.claim(epoch);
      assertThat(buffer.publish(epoch, batch, slot, 100 + batch)).isTrue();
      return slot;
    }

    void die() {
      living.remove(number);
    }
  }

  private static BatchOrder order(int first) {
    return BatchOrder.evenly(IntStream.range(first, first + 2 * BATCHES).toArray(), 2);
  }

  private void slots(int count) {
    memory.set(BUDGET, 4096L * count);
    memory.set(StagingDescriptor.SLOT_BYTES, 4096);
  }

  private long slot(int slot) {
    return memory.get(StagingDescriptor.slot(slot));
  }

  private int claimState(Entered epoch, int batch) {
    return StagingDescriptor.state(memory.get(epoch.at().claim(batch)));
  }

  private int state(Entered epoch) {
    return StagingDescriptor.state(memory.get(epoch.at().state()));
  }

  // ---- sizes

  @Test
  void slotsAreSizedByTheFirstBatch() {
    Job one = new Job(1);
    memory.set(BUDGET, 3L * 8192);
    assertThat(one.buffer.slots()).isZero();
    one.buffer.size(5_000);
    one.buffer.size(50_000);
    assertThat(one.buffer.slotBytes()).isEqualTo(8192);
    assertThat(one.buffer.slots()).isEqualTo(3);
    memory.set(BUDGET, 2L * 8192);
    assertThat(one.buffer.slots()).isEqualTo(2);
    memory.set(BUDGET, 2L * 8192 - 1);
    assertThat(one.buffer.slots()).as("fewer than two").isZero();
    memory.set(BUDGET, 1_000L * 8192);
    assertThat(one.buffer.slots()).isEqualTo(StagingDescriptor.MAX_SLOTS);
  }

  @Test
  void anEmptyBatchTakesAPage() {
    Job one = new Job(1);
    one.buffer.size(0);
    assertThat(one.buffer.slotBytes()).isEqualTo(4096);
  }

  @Test
  void oneJobSizesTheBufferUnlessItDiesOrStops() {
    Job one = new Job(1);
    Job two = new Job(2);
    Job three = new Job(3);
    assertThat(one.buffer.trySize()).isTrue();
    assertThat(one.buffer.trySize()).as("already the sizer").isTrue();
    assertThat(two.buffer.trySize()).isFalse();
    two.buffer.giveUpSizing();
    assertThat(memory.get(SIZER)).as("only the sizer can give up").isEqualTo(1);
    one.die();
    assertThat(two.buffer.trySize()).isTrue();
    assertThat(three.buffer.trySize()).isFalse();
    clock.now += 201; // No heartbeat of job 2.
    assertThat(three.buffer.trySize()).isTrue();
    three.buffer.giveUpSizing();
    assertThat(memory.get(SIZER)).isZero();
  }

  @Test
  void anOrderThatIsTooLongDoesNotFit() {
    Job one = new Job(1);
    assertThat(one.buffer.fits(order(0))).isTrue();
    assertThat(one.buffer.fits(BatchOrder.evenly(new int[2 * BATCHES + 1], BATCHES))).isFalse();
    assertThat(one.buffer.fits(BatchOrder.evenly(new int[BATCHES + 1], 1))).isFalse();
  }

  // ---- epochs

  @Test
  void theSecondJobAdoptsTheFirstJobsOrder() {
    Job one = new Job(1);
    Job two = new Job(2);
    assertThat(one.buffer.isFresh()).isTrue();
    Entered first = one.begin();
    assertThat(two.buffer.isFresh()).isFalse();
    assertThat(one.buffer.isShared(first)).isFalse();
    Entered second = two.begin();
    assertThat(second.number()).isEqualTo(first.number()).isEqualTo(1);
    assertThat(second.order().items).isEqualTo(order(1).items);
    assertThat(second.order().ends).isEqualTo(order(1).ends);
    assertThat(one.buffer.isShared(first)).isTrue();
    assertThat(two.buffer.isShared(second)).isTrue();
    two.buffer.leave(second);
    assertThat(one.buffer.isShared(first)).isFalse();
    assertThat(memory.get(StagingDescriptor.participant(two.participant) + PARTICIPANT_CURSOR))
        .isEqualTo(StagingDescriptor.cursor(1, ALL));
  }

  @Test
  void aDamagedOrderIsNotAdopted() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    for (long batches : new long[] {-1, BATCHES + 1}) {
      memory.set(epoch.at().batches(), batches);
      assertThat(two.begin()).as("%d batches", batches).isNull();
    }
    memory.set(epoch.at().batches(), BATCHES);
    for (long items : new long[] {-1, 2 * BATCHES + 1}) {
      memory.set(epoch.at().items(), items);
      assertThat(two.begin()).as("%d items", items).isNull();
    }
    memory.set(epoch.at().items(), 2 * BATCHES);
    assertThat(two.begin()).isNotNull();
  }

  @Test
  void anEpochThatSlidesWhileItsOrderIsReadIsNotEntered() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    memory.whenTablesAreRead =
        () -> memory.set(epoch.at().state(), StagingDescriptor.word(SLIDING, 1, 0, 1));
    assertThat(two.begin()).isNull();
    assertThat(memory.get(StagingDescriptor.participant(two.participant) + PARTICIPANT_CURSOR))
        .as("nobody waits for it")
        .isEqualTo(StagingDescriptor.cursor(0, ALL));
    assertThat(two.buffer.comesLate()).isTrue();
    assertThat(one.buffer.comesLate()).as("already in the epoch").isFalse();
    one.buffer.leave(epoch);
    assertThat(two.buffer.comesLate()).as("nobody is in the epoch").isFalse();
  }

  @Test
  void anEpochBeginsOnceAllJobsEnteredTheLastOneAndLeftTheOneBefore() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    assertThat(one.begin()).as("job 2 has yet to come").isNull();
    Entered same = two.begin();
    Entered next = one.begin();
    assertThat(next.number()).isEqualTo(2);
    assertThat(next.order().items).isEqualTo(order(1).items);
    assertThat(one.buffer.isShared(epoch)).as("it began another").isTrue();
    one.buffer.leave(next);
    one.buffer.leave(epoch);
    assertThat(one.begin()).as("job 2 is still in epoch 1").isNull();
    two.buffer.leave(same);
    assertThat(two.begin().number()).isEqualTo(2);
    assertThat(one.begin().number()).isEqualTo(3);
    assertThat(one.buffer.isShared(epoch)).as("its descriptor is reused").isFalse();
  }

  @Test
  void beginningTheEpochAfterNextLeavesTheFirst() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.begin();
    Entered first = two.begin();
    assertThat(two.participant).isNotZero();
    assertThat(one.begin().number()).isEqualTo(2);
    two.buffer.leave(first);
    assertThat(two.begin().number()).isEqualTo(2);
    assertThat(one.begin()).as("leaves epoch 1").isNull();
    assertThat(one.begin().number()).isEqualTo(3);
    assertThat(one.counters.now().dropped).as("other jobs removed").isZero();
  }

  @Test
  void aJobStoppedInThePreviousEpochIsRemovedFromIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.begin();
    Entered first = two.begin();
    assertThat(one.begin().number()).isEqualTo(2);
    assertThat(one.begin()).as("job 2 is still in epoch 1").isNull();
    clock.now += 201;
    assertThat(one.begin()).as("removes job 2").isNull();
    assertThat(one.counters.now().dropped).isEqualTo(1);
    assertThat(one.begin().number()).isEqualTo(3);
    assertThat(two.buffer.isShared(first)).as("its descriptor is reused").isFalse();
  }

  @Test
  void anEpochWithOneJobLeftIsNotShared() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    Entered same = two.begin();
    one.buffer.leave(epoch);
    assertThat(two.buffer.isShared(same)).isFalse();
  }

  @Test
  void anAbsentJobIsWaitedForUntilItsLeaseEnds() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.buffer.leave(one.begin());
    assertThat(one.begin()).isNull();
    clock.now += 400;
    two.beat();
    assertThat(one.begin()).as("its lease is not over").isNull();
    clock.now += 1;
    assertThat(one.begin().number()).isEqualTo(2);
  }

  @Test
  void aStoppedJobIsWaitedForOnlyUntilItsHeartbeatIsOverdue() {
    Job one = new Job(1);
    new Job(2);
    one.buffer.leave(one.begin());
    assertThat(one.begin()).isNull();
    clock.now += 200;
    assertThat(one.begin()).isNull();
    clock.now += 1;
    assertThat(one.begin().number()).isEqualTo(2);
  }

  @Test
  void aJobThatWaitsInAnotherPipelineIsNotWaitedFor() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.buffer.leave(one.begin());
    memory.set(StagingDescriptor.participant(two.participant) + PARTICIPANT_BLOCKED, 1);
    assertThat(one.begin().number()).isEqualTo(2);
  }

  @Test
  void anEpochWhoseCreatorDiedIsCreatedAgain() {
    Job one = new Job(1);
    new Job(2);
    StagingDescriptor.Epoch at = memory.epoch(1);
    memory.set(at.state(), StagingDescriptor.word(CREATING, 1, 2, 0));
    assertThat(one.begin()).as("job 2 is creating it").isNull();
    living.remove(2L);
    assertThat(one.begin().number()).isEqualTo(1);
  }

  @Test
  void deadJobsAreRemovedFromEpochsAndSlots() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered epoch = one.begin();
    two.begin();
    int slot = one.stage(epoch);
    assertThat(two.buffer.tryTake(epoch, 0)).isEqualTo(slot);
    assertThat(one.buffer.isShared(epoch)).isTrue();
    two.die();
    one.buffer.participants.buryDead();
    assertThat(one.buffer.isShared(epoch)).isFalse();
    assertThat(StagingDescriptor.low(slot(slot))).isZero();
    assertThat(memory.get(StagingDescriptor.participant(two.participant) + PARTICIPANT_JOB))
        .isZero();
    assertThat(one.buffer.participants.count()).isEqualTo(1);
    assertThat(new Job(3).participant).as("its place is reused").isEqualTo(two.participant);
  }

  @Test
  void atMostSixteenJobsShare() {
    for (int job = 1; job <= StagingDescriptor.MAX_PARTICIPANTS; job++) {
      new Job(job);
    }
    assertThat(Participants.enter(memory, 17, 17, living::contains)).isFalse();
    living.remove(5L);
    assertThat(Participants.enter(memory, 17, 1_017, living::contains)).isTrue();
    assertThat(memory.get(StagingDescriptor.participant(4) + PARTICIPANT_JOB)).isEqualTo(17);
    assertThat(memory.get(StagingDescriptor.participant(4) + PARTICIPANT_PID)).isEqualTo(1_017);
  }

  @Test
  void endingAnEpochDoesNotStopPreparingTheNextOne() {
    Job one = new Job(1);
    Entered first = one.begin();
    one.buffer.produces(first, true);
    assertThat(one.buffer.participants.anyProduces(1)).isTrue();
    one.buffer.produces(first, false);
    assertThat(one.buffer.participants.anyProduces(1)).isFalse();
    one.buffer.leave(first);
    Entered next = one.begin();
    one.buffer.produces(next, true);
    one.buffer.produces(first, false);
    assertThat(memory.get(StagingDescriptor.participant(one.participant) + PARTICIPANT_PRODUCES))
        .isEqualTo(2);
  }

  // ---- preparing

  @Test
  void batchesAreClaimedInOrderAndOnce() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    two.begin();
    assertThat(one.buffer.claim(epoch)).isZero();
    assertThat(two.buffer.claim(epoch)).isEqualTo(1);
    assertThat(one.buffer.nextUnclaimed(epoch)).isEqualTo(2);
    assertThat(one.buffer.claim(epoch)).isEqualTo(2);
    assertThat(two.buffer.claim(epoch))
        .as("claims may be returned")
        .isEqualTo(StagingBuffer.NOT_NOW);
    one.buffer.unclaim(epoch, 2, false);
    assertThat(claimState(epoch, 2)).isEqualTo(UNCLAIMED);
    assertThat(two.buffer.claim(epoch)).isEqualTo(2);
    one.buffer.unclaim(epoch, 2, false);
    assertThat(claimState(epoch, 2)).as("claimed by job 2").isNotEqualTo(UNCLAIMED);
    for (int batch = 0; batch < BATCHES; batch++) {
      one.buffer.unclaim(epoch, batch, true);
      two.buffer.unclaim(epoch, batch, true);
      assertThat(claimState(epoch, batch)).isEqualTo(UNSTAGED);
    }
    assertThat(one.buffer.claim(epoch)).isEqualTo(StagingBuffer.NEVER_MORE);
    assertThat(one.counters.now().takeOvers + two.counters.now().takeOvers).isZero();
  }

  @Test
  void theClaimOfADeadJobIsTakenOverAndCounted() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    two.begin();
    two.buffer.claim(epoch);
    two.die();
    assertThat(one.buffer.claim(epoch)).isZero();
    assertThat(one.counters.now().takeOvers).isEqualTo(1);
  }

  @Test
  void batchesThatAllJobsHavePassedAreNotPrepared() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    two.begin();
    one.buffer.advance(epoch, 2);
    assertThat(one.buffer.nextUnclaimed(epoch)).as("job 2 needs it").isZero();
    two.buffer.advance(epoch, 1);
    assertThat(one.buffer.nextUnclaimed(epoch)).isEqualTo(1);
    two.buffer.leave(epoch);
    assertThat(one.buffer.nextUnclaimed(epoch)).isEqualTo(2);
    one.buffer.advance(epoch, BATCHES);
    assertThat(one.buffer.nextUnclaimed(epoch)).isEqualTo(StagingBuffer.NEVER_MORE);
  }

  @Test
  void noBatchOfAFinishedEpochIsClaimed() {
    Job one = new Job(1);
    Entered first = one.begin();
    one.buffer.leave(first);
    one.buffer.leave(one.begin());
    Entered third = one.begin();
    assertThat(third.number()).isEqualTo(3);
    assertThat(one.buffer.claim(first)).isEqualTo(StagingBuffer.NEVER_MORE);
    assertThat(one.buffer.tryTake(first, 0)).isEqualTo(StagingBuffer.NOBODY);
  }

  @Test
  void aSlotIsFilledByOneJob() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered epoch = one.begin();
    two.begin();
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isZero();
    assertThat(two.buffer.takeSlot(epoch, new Blocker())).isEqualTo(1);
    assertThat(StagingDescriptor.state(slot(0))).isEqualTo(FILLING);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(epoch, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.participant).isEqualTo(-1);
    two.die();
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).as("the dead job's slot").isEqualTo(1);
    one.buffer.giveBack(1, epoch);
    assertThat(StagingDescriptor.state(slot(1))).isEqualTo(FREE);
    one.buffer.giveUp(0, epoch);
    assertThat(StagingDescriptor.state(slot(0))).isEqualTo(BROKEN);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isEqualTo(1);
    one.buffer.giveUp(1, epoch);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isEqualTo(StagingBuffer.NEVER_MORE);
  }

  @Test
  void aSlotThatAJobStillNeedsIsNotReused() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered epoch = one.begin();
    two.begin();
    one.stage(epoch);
    one.stage(epoch);
    one.buffer.advance(epoch, 2);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(epoch, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.participant).isEqualTo(two.participant);
    assertThat(state(epoch)).isEqualTo(OPEN);
    two.buffer.advance(epoch, 1);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isZero();
    assertThat(state(epoch)).as("no longer open to jobs").isEqualTo(SLIDING);
    assertThat(one.counters.now().dropped).isZero();
  }

  @Test
  void aHeldSlotIsNotReused() {
    Job one = new Job(1);
    slots(2);
    Entered epoch = one.begin();
    int slot = one.stage(epoch);
    one.stage(epoch);
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(slot);
    assertThat(one.buffer.length(slot)).isEqualTo(100);
    one.buffer.advance(epoch, 1);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isEqualTo(StagingBuffer.NOT_NOW);
    one.buffer.release(slot);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isEqualTo(slot);
  }

  @Test
  void aJobWithoutProgressIsRemovedFromTheEpoch() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered epoch = one.begin();
    two.begin();
    one.stage(epoch);
    one.stage(epoch);
    one.buffer.advance(epoch, 2);
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isEqualTo(StagingBuffer.NOT_NOW);
    clock.now += 201;
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).isZero();
    assertThat(one.counters.now().dropped).isEqualTo(1);
    assertThat(one.buffer.isShared(epoch)).isFalse();
    one.stage(epoch);
    assertThat(two.buffer.tryTake(epoch, 0)).as("its batch is gone").isEqualTo(StagingBuffer.LOST);
  }

  @Test
  void theFirstBatchesAreKeptForJobsYetToEnter() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered epoch = one.begin();
    one.stage(epoch);
    one.stage(epoch);
    one.buffer.advance(epoch, 2);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(epoch, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.participant).isEqualTo(two.participant);
    memory.set(
        StagingDescriptor.participant(two.participant) + PARTICIPANT_CURSOR,
        StagingDescriptor.cursor(1, ALL));
    assertThat(one.buffer.takeSlot(epoch, new Blocker())).as("job 2 skips the epoch").isZero();
  }

  @Test
  void aNewerEpochLeavesHalfOfTheSlotsToTheOlderOne() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered old = one.begin();
    two.begin();
    one.buffer.leave(old);
    Entered next = one.begin();
    assertThat(one.buffer.takeSlot(next, new Blocker())).isZero();
    assertThat(one.buffer.takeSlot(next, new Blocker())).isEqualTo(1);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(next, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.participant).isEqualTo(two.participant);
    assertThat(StagingDescriptor.state(slot(2))).as("given back").isEqualTo(FREE);
    assertThat(two.buffer.takeSlot(old, new Blocker())).as("for the older epoch").isEqualTo(2);
    two.buffer.giveBack(2, old);
    two.buffer.leave(old);
    assertThat(one.buffer.takeSlot(next, new Blocker())).isEqualTo(2);
  }

  /** Their pages are already allocated, and page-locked if a job locks them. */
  @Test
  void slotsOfAFinishedEpochAreUsedBeforeFreshOnes() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(6);
    Entered old = one.begin();
    two.begin();
    assertThat(List.of(one.stage(old), one.stage(old))).containsExactly(0, 1);
    assertThat(two.buffer.tryTake(old, 0)).isZero();
    one.buffer.leave(old);
    Entered next = one.begin();
    assertThat(one.stage(next)).as("while a job is in the older epoch").isEqualTo(2);
    two.buffer.leave(old);
    assertThat(one.stage(next)).as("the slot without readers").isEqualTo(1);
    two.buffer.release(0);
    assertThat(one.stage(next)).isZero();
    assertThat(one.buffer.takeSlot(next, new Blocker())).as("a fresh slot").isEqualTo(3);
  }

  @Test
  void publishingABatchThatWasTakenOverFails() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered epoch = one.begin();
    two.begin();
    int slot = two.buffer.takeSlot(epoch, new Blocker());
    assertThat(two.buffer.claim(epoch)).isZero();
    clock.now += 201; // Job 2 is stopped.
    assertThat(one.buffer.claim(epoch)).as("seen for the first time").isEqualTo(1);
    clock.now += 201;
    assertThat(one.buffer.claim(epoch)).isZero();
    assertThat(two.buffer.publish(epoch, 0, slot, 100)).isFalse();
    assertThat(StagingDescriptor.state(slot(slot))).as("free for others").isEqualTo(FREE);
    assertThat(two.buffer.publish(epoch, 0, slot, 100)).as("not its slot").isFalse();
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(FREE);
  }

  // ---- using

  @Test
  void eachJobHoldsAStagedBatchUntilItReleasesIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered epoch = one.begin();
    two.begin();
    one.stage(epoch);
    int slot = one.stage(epoch);
    assertThat(claimState(epoch, 1)).isEqualTo(STAGED);
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(READY);
    assertThat(one.buffer.tryTake(epoch, 1)).isEqualTo(slot);
    assertThat(two.buffer.tryTake(epoch, 1)).isEqualTo(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isEqualTo(0b11);
    one.buffer.release(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isEqualTo(1L << two.participant);
    one.buffer.release(slot);
    two.buffer.release(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isZero();
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(READY);
    assertThat(two.buffer.length(slot)).isEqualTo(101);
  }

  @Test
  void aBatchReplacedInItsSlotIsLost() {
    Job one = new Job(1);
    slots(4);
    Entered epoch = one.begin();
    int slot = one.stage(epoch);
    long ready = slot(slot);
    for (long other :
        new long[] {
          StagingDescriptor.word(READY, 1, 1, 0),
          StagingDescriptor.word(READY, 3, 0, 0),
          StagingDescriptor.word(FILLING, 1, 0, 0)
        }) {
      memory.set(StagingDescriptor.slot(slot), other);
      assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.LOST);
      assertThat(slot(slot)).isEqualTo(other);
    }
    memory.set(StagingDescriptor.slot(slot), ready);
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(slot);
  }

  @Test
  void anUnstagedBatchIsWaitedForWhileAJobPreparesIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered epoch = one.begin();
    two.begin();
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.NOBODY);
    two.buffer.produces(epoch, true);
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    two.buffer.claim(epoch);
    assertThat(StagingBuffer.isClaimed(epoch, one.buffer.claimWord(epoch, 0))).isTrue();
    assertThat(StagingBuffer.isClaimed(epoch, one.buffer.claimWord(epoch, 1))).isFalse();
    assertThat(StagingBuffer.isClaimed(epoch, StagingDescriptor.word(1, 3, 1, 0))).isFalse();
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(one.counters.now().takeOvers).isZero();
    clock.now += 201; // Job 2 is stopped.
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(one.counters.now().takeOvers).isEqualTo(1);
    assertThat(claimState(epoch, 0)).isEqualTo(UNCLAIMED);
    assertThat(one.buffer.tryTake(epoch, 0)).as("nobody is left").isEqualTo(StagingBuffer.NOBODY);
    one.buffer.claim(epoch);
    one.buffer.unclaim(epoch, 0, true);
    assertThat(one.buffer.tryTake(epoch, 0)).isEqualTo(StagingBuffer.NOT_STAGED);
  }

  // ---- participants

  @Test
  void aParticipantRunsWhileItSendsHeartbeats() {
    Job one = new Job(1);
    Job two = new Job(2);
    Participants participants = one.buffer.participants;
    assertThat(participants.isRunning(two.participant)).isTrue();
    assertThat(participants.isProgressing(two.participant)).isTrue();
    clock.now += 200;
    assertThat(participants.isRunning(two.participant)).isTrue();
    clock.now += 1;
    assertThat(participants.isRunning(two.participant)).isFalse();
    assertThat(participants.willFinish(2)).isFalse();
    assertThat(participants.willFinish(1)).as("itself").isTrue();
    assertThat(participants.willFinish(99)).as("no participant").isFalse();
    two.beat();
    assertThat(participants.isRunning(two.participant)).isTrue();
    assertThat(participants.willFinish(2)).isTrue();
    two.die();
    assertThat(participants.isRunning(two.participant)).isFalse();
    assertThat(participants.isRunning(9)).as("nobody").isFalse();
    assertThat(participants.pid(two.participant)).isEqualTo(1_002);
  }

  @Test
  void beginningAnEpochAndAdvancingAreProgress() {
    Job one = new Job(1);
    Job two = new Job(2);
    Participants participants = one.buffer.participants;
    long before = participants.progress();
    assertThat(participants.progress()).isEqualTo(before);
    Entered epoch = two.begin();
    long begun = participants.progress();
    assertThat(begun).isNotEqualTo(before);
    two.buffer.advance(epoch, 1);
    assertThat(participants.progress()).isNotEqualTo(begun);
  }
}
