package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.ALL;
import static io.coordl.staging.StagingDescriptor.BROKEN;
import static io.coordl.staging.StagingDescriptor.BUDGET;
import static io.coordl.staging.StagingDescriptor.CREATING;
import static io.coordl.staging.StagingDescriptor.FILLING;
import static io.coordl.staging.StagingDescriptor.FREE;
import static io.coordl.staging.StagingDescriptor.MEMBER_BEAT;
import static io.coordl.staging.StagingDescriptor.MEMBER_BLOCKED;
import static io.coordl.staging.StagingDescriptor.MEMBER_CURSOR;
import static io.coordl.staging.StagingDescriptor.MEMBER_JOB;
import static io.coordl.staging.StagingDescriptor.MEMBER_PID;
import static io.coordl.staging.StagingDescriptor.MEMBER_PRODUCES;
import static io.coordl.staging.StagingDescriptor.OPEN;
import static io.coordl.staging.StagingDescriptor.READY;
import static io.coordl.staging.StagingDescriptor.SIZER;
import static io.coordl.staging.StagingDescriptor.SLIDING;
import static io.coordl.staging.StagingDescriptor.STAGED;
import static io.coordl.staging.StagingDescriptor.UNCLAIMED;
import static io.coordl.staging.StagingDescriptor.UNSTAGED;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.staging.StagingBuffer.Blocker;
import io.coordl.staging.StagingBuffer.Entered;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Each step of the protocol by itself, on one thread, with memory and time of the test's own. */
class StagingBufferTest {
  private static final int BATCHES = 3;
  private static final Bounds BOUNDS =
      new Bounds(
          Duration.ofNanos(300),
          Duration.ofNanos(200),
          Duration.ofNanos(400),
          Duration.ofNanos(50),
          Duration.ofNanos(1_000));

  private final Words memory = new Words(2 * BATCHES, BATCHES);
  private final Set<Long> living = new HashSet<>();
  private final Words.Time clock = new Words.Time();

  /** A job as its buffer sees the others. */
  private final class Job {
    final long number;
    final StagingCounters counters = new StagingCounters();
    final StagingBuffer buffer;
    final int member;

    Job(long number) {
      this.number = number;
      living.add(number);
      assertThat(Members.enter(memory, number, 1_000 + number, living::contains)).isTrue();
      Peers peers = Words.peers(living);
      Members members = new Members(memory, peers, clock, BOUNDS, number);
      member = members.memberOf(number);
      buffer = new StagingBuffer(memory, members, peers, counters, number, member);
    }

    Entered begins() {
      return buffer.tryBegin(order((int) number));
    }

    void beats() {
      long at = StagingDescriptor.member(member) + MEMBER_BEAT;
      memory.set(at, memory.get(at) + 1);
    }

    /** Takes a slot, claims the next batch and publishes it. */
    int stages(Entered pass) {
      int slot = buffer.takeSlot(pass, new Blocker());
      int batch = buffer.claim(pass);
      assertThat(buffer.publish(pass, batch, slot, 100 + batch)).isTrue();
      return slot;
    }

    void dies() {
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

  private int claimState(Entered pass, int batch) {
    return StagingDescriptor.state(memory.get(pass.at().claim(batch)));
  }

  private int state(Entered pass) {
    return StagingDescriptor.state(memory.get(pass.at().state()));
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
    assertThat(one.buffer.slots()).as("not even two").isZero();
    memory.set(BUDGET, 1_000L * 8192);
    assertThat(one.buffer.slots()).isEqualTo(StagingDescriptor.MAX_SLOTS);
    assertThat(one.buffer.me()).isEqualTo(one.member);
  }

  @Test
  void anEmptyBatchTakesAPage() {
    Job one = new Job(1);
    one.buffer.size(0);
    assertThat(one.buffer.slotBytes()).isEqualTo(4096);
  }

  @Test
  void oneJobPreparesTheFirstBatchOfAllUnlessItDiesOrStops() {
    Job one = new Job(1);
    Job two = new Job(2);
    Job three = new Job(3);
    assertThat(one.buffer.trySize()).isTrue();
    assertThat(one.buffer.trySize()).as("it is the one").isTrue();
    assertThat(two.buffer.trySize()).isFalse();
    two.buffer.giveUpSizing();
    assertThat(memory.get(SIZER)).as("not another's to give up").isEqualTo(1);
    one.dies();
    assertThat(two.buffer.trySize()).isTrue();
    assertThat(three.buffer.trySize()).isFalse();
    clock.now += 201; // Without a sign of life of job 2.
    assertThat(three.buffer.trySize()).isTrue();
    three.buffer.giveUpSizing();
    assertThat(memory.get(SIZER)).isZero();
  }

  @Test
  void anOrderThatIsLongerThanTheRoomDoesNotFit() {
    Job one = new Job(1);
    assertThat(one.buffer.fits(order(0))).isTrue();
    assertThat(one.buffer.fits(BatchOrder.evenly(new int[2 * BATCHES + 1], BATCHES))).isFalse();
    assertThat(one.buffer.fits(BatchOrder.evenly(new int[BATCHES + 1], 1))).isFalse();
  }

  // ---- passes

  @Test
  void whoComesSecondAdoptsTheOrderOfTheFirst() {
    Job one = new Job(1);
    Job two = new Job(2);
    assertThat(one.buffer.isFresh()).isTrue();
    Entered first = one.begins();
    assertThat(two.buffer.isFresh()).isFalse();
    assertThat(one.buffer.isShared(first)).isFalse();
    Entered second = two.begins();
    assertThat(second.number()).isEqualTo(first.number()).isEqualTo(1);
    assertThat(second.order().items()).isEqualTo(order(1).items());
    assertThat(second.order().ends()).isEqualTo(order(1).ends());
    assertThat(one.buffer.isShared(first)).isTrue();
    assertThat(two.buffer.isShared(second)).isTrue();
    two.buffer.leave(second);
    assertThat(one.buffer.isShared(first)).isFalse();
    assertThat(memory.get(StagingDescriptor.member(two.member) + MEMBER_CURSOR))
        .isEqualTo(StagingDescriptor.cursor(1, ALL));
  }

  @Test
  void aDamagedOrderIsNotAdopted() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    for (long batches : new long[] {-1, BATCHES + 1}) {
      memory.set(pass.at().batches(), batches);
      assertThat(two.begins()).as("%d batches", batches).isNull();
    }
    memory.set(pass.at().batches(), BATCHES);
    for (long items : new long[] {-1, 2 * BATCHES + 1}) {
      memory.set(pass.at().items(), items);
      assertThat(two.begins()).as("%d items", items).isNull();
    }
    memory.set(pass.at().items(), 2 * BATCHES);
    assertThat(two.begins()).isNotNull();
  }

  @Test
  void aPassThatSlidesWhileItsOrderIsReadIsNotEntered() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    memory.whenTablesAreRead =
        () -> memory.set(pass.at().state(), StagingDescriptor.word(SLIDING, 1, 0, 1));
    assertThat(two.begins()).isNull();
    assertThat(memory.get(StagingDescriptor.member(two.member) + MEMBER_CURSOR))
        .as("nobody waits for it")
        .isEqualTo(StagingDescriptor.cursor(0, ALL));
    assertThat(two.buffer.comesLate()).isTrue();
    assertThat(one.buffer.comesLate()).as("it is in it").isFalse();
    one.buffer.leave(pass);
    assertThat(two.buffer.comesLate()).as("nobody is in it").isFalse();
  }

  @Test
  void theNextPassBeginsOnceAllHaveComeToThisOneAndLeftTheOneBefore() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    assertThat(one.begins()).as("job 2 has yet to come").isNull();
    Entered same = two.begins();
    Entered next = one.begins();
    assertThat(next.number()).isEqualTo(2);
    assertThat(next.order().items()).isEqualTo(order(1).items());
    assertThat(one.buffer.isShared(pass)).as("it began another").isTrue();
    one.buffer.leave(next);
    one.buffer.leave(pass);
    assertThat(one.begins()).as("job 2 is still in pass 1").isNull();
    two.buffer.leave(same);
    assertThat(two.begins().number()).isEqualTo(2);
    assertThat(one.begins().number()).isEqualTo(3);
    assertThat(one.buffer.isShared(pass)).as("its descriptor is another's").isFalse();
  }

  @Test
  void whoBeginsThePassAfterTheNextHasLeftTheFirst() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.begins();
    Entered first = two.begins();
    assertThat(two.buffer.me()).isEqualTo(two.member).isNotZero();
    assertThat(one.begins().number()).isEqualTo(2);
    two.buffer.leave(first);
    assertThat(two.begins().number()).isEqualTo(2);
    assertThat(one.begins()).as("takes itself out").isNull();
    assertThat(one.begins().number()).isEqualTo(3);
    assertThat(one.counters.dropped.sum()).as("others that were taken out").isZero();
  }

  @Test
  void whoIsStoppedInThePassBeforeIsTakenOutOfIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.begins();
    Entered first = two.begins();
    assertThat(one.begins().number()).isEqualTo(2);
    assertThat(one.begins()).as("job 2 is still in pass 1").isNull();
    clock.now += 201;
    assertThat(one.begins()).as("takes it out").isNull();
    assertThat(one.counters.dropped.sum()).isEqualTo(1);
    assertThat(one.begins().number()).isEqualTo(3);
    assertThat(two.buffer.isShared(first)).as("its descriptor is another's").isFalse();
  }

  @Test
  void whoIsAloneInAPassSharesItWithNobody() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    Entered same = two.begins();
    one.buffer.leave(pass);
    assertThat(two.buffer.isShared(same)).isFalse();
  }

  @Test
  void whoDoesNotComeIsWaitedForAsLongAsItsLease() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.buffer.leave(one.begins());
    assertThat(one.begins()).isNull();
    clock.now += 400;
    two.beats();
    assertThat(one.begins()).as("its lease is not over").isNull();
    clock.now += 1;
    assertThat(one.begins().number()).isEqualTo(2);
  }

  @Test
  void whoIsStoppedIsWaitedForOnlyAsLongAsItsSignsOfLifeMayTake() {
    Job one = new Job(1);
    new Job(2);
    one.buffer.leave(one.begins());
    assertThat(one.begins()).isNull();
    clock.now += 200;
    assertThat(one.begins()).isNull();
    clock.now += 1;
    assertThat(one.begins().number()).isEqualTo(2);
  }

  @Test
  void whoWaitsInAnotherPipelineIsNotWaitedFor() {
    Job one = new Job(1);
    Job two = new Job(2);
    one.buffer.leave(one.begins());
    memory.set(StagingDescriptor.member(two.member) + MEMBER_BLOCKED, 1);
    assertThat(one.begins().number()).isEqualTo(2);
  }

  @Test
  void aPassWhoseCreatorDiedIsCreatedAnew() {
    Job one = new Job(1);
    new Job(2);
    StagingDescriptor.Pass at = memory.pass(1);
    memory.set(at.state(), StagingDescriptor.word(CREATING, 1, 2, 0));
    assertThat(one.begins()).as("job 2 is at it").isNull();
    living.remove(2L);
    assertThat(one.begins().number()).isEqualTo(1);
  }

  @Test
  void theDeadAreTakenOutOfPassesAndSlots() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered pass = one.begins();
    two.begins();
    int slot = one.stages(pass);
    assertThat(two.buffer.tryTake(pass, 0)).isEqualTo(slot);
    assertThat(one.buffer.isShared(pass)).isTrue();
    two.dies();
    one.buffer.members().buryDead();
    assertThat(one.buffer.isShared(pass)).isFalse();
    assertThat(StagingDescriptor.low(slot(slot))).isZero();
    assertThat(memory.get(StagingDescriptor.member(two.member) + MEMBER_JOB)).isZero();
    assertThat(one.buffer.members().count()).isEqualTo(1);
    assertThat(new Job(3).member).as("its place is given again").isEqualTo(two.member);
  }

  @Test
  void onlySixteenJobsShare() {
    for (int job = 1; job <= StagingDescriptor.MAX_MEMBERS; job++) {
      new Job(job);
    }
    assertThat(Members.enter(memory, 17, 17, living::contains)).isFalse();
    living.remove(5L);
    assertThat(Members.enter(memory, 17, 1_017, living::contains)).isTrue();
    assertThat(memory.get(StagingDescriptor.member(4) + MEMBER_JOB)).isEqualTo(17);
    assertThat(memory.get(StagingDescriptor.member(4) + MEMBER_PID)).isEqualTo(1_017);
  }

  @Test
  void oneWhoPreparesTheNextPassAlreadyDoesNotCeaseTo() {
    Job one = new Job(1);
    Entered first = one.begins();
    one.buffer.produces(first, true);
    assertThat(one.buffer.members().anyProduces(1)).isTrue();
    one.buffer.produces(first, false);
    assertThat(one.buffer.members().anyProduces(1)).isFalse();
    one.buffer.leave(first);
    Entered next = one.begins();
    one.buffer.produces(next, true);
    one.buffer.produces(first, false);
    assertThat(memory.get(StagingDescriptor.member(one.member) + MEMBER_PRODUCES)).isEqualTo(2);
  }

  // ---- preparing

  @Test
  void batchesAreClaimedInOrderAndNoneTwice() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    two.begins();
    assertThat(one.buffer.claim(pass)).isZero();
    assertThat(two.buffer.claim(pass)).isEqualTo(1);
    assertThat(one.buffer.nextUnclaimed(pass)).isEqualTo(2);
    assertThat(one.buffer.claim(pass)).isEqualTo(2);
    assertThat(two.buffer.claim(pass)).as("some may come back").isEqualTo(StagingBuffer.NOT_NOW);
    one.buffer.unclaim(pass, 2, false);
    assertThat(claimState(pass, 2)).isEqualTo(UNCLAIMED);
    assertThat(two.buffer.claim(pass)).isEqualTo(2);
    one.buffer.unclaim(pass, 2, false);
    assertThat(claimState(pass, 2)).as("it is job 2's").isNotEqualTo(UNCLAIMED);
    for (int batch = 0; batch < BATCHES; batch++) {
      one.buffer.unclaim(pass, batch, true);
      two.buffer.unclaim(pass, batch, true);
      assertThat(claimState(pass, batch)).isEqualTo(UNSTAGED);
    }
    assertThat(one.buffer.claim(pass)).isEqualTo(StagingBuffer.NEVER_MORE);
    assertThat(one.counters.takeOvers.sum() + two.counters.takeOvers.sum()).isZero();
  }

  @Test
  void theClaimOfADeadJobIsTakenOverAndCounted() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    two.begins();
    two.buffer.claim(pass);
    two.dies();
    assertThat(one.buffer.claim(pass)).isZero();
    assertThat(one.counters.takeOvers.sum()).isEqualTo(1);
  }

  @Test
  void whatAllAreDoneWithIsNotPrepared() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    two.begins();
    one.buffer.advance(pass, 2);
    assertThat(one.buffer.nextUnclaimed(pass)).as("job 2 needs it").isZero();
    two.buffer.advance(pass, 1);
    assertThat(one.buffer.nextUnclaimed(pass)).isEqualTo(1);
    two.buffer.leave(pass);
    assertThat(one.buffer.nextUnclaimed(pass)).isEqualTo(2);
    one.buffer.advance(pass, BATCHES);
    assertThat(one.buffer.nextUnclaimed(pass)).isEqualTo(StagingBuffer.NEVER_MORE);
  }

  @Test
  void ofAPassThatIsOverNothingIsClaimed() {
    Job one = new Job(1);
    Entered first = one.begins();
    one.buffer.leave(first);
    one.buffer.leave(one.begins());
    Entered third = one.begins();
    assertThat(third.number()).isEqualTo(3);
    assertThat(one.buffer.claim(first)).isEqualTo(StagingBuffer.NEVER_MORE);
    assertThat(one.buffer.tryTake(first, 0)).isEqualTo(StagingBuffer.NOBODY);
  }

  @Test
  void aSlotIsFilledByOne() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered pass = one.begins();
    two.begins();
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isZero();
    assertThat(two.buffer.takeSlot(pass, new Blocker())).isEqualTo(1);
    assertThat(StagingDescriptor.state(slot(0))).isEqualTo(FILLING);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(pass, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.member()).isEqualTo(-1);
    two.dies();
    assertThat(one.buffer.takeSlot(pass, new Blocker())).as("a dead job's").isEqualTo(1);
    one.buffer.giveBack(1, pass);
    assertThat(StagingDescriptor.state(slot(1))).isEqualTo(FREE);
    one.buffer.giveUp(0, pass);
    assertThat(StagingDescriptor.state(slot(0))).isEqualTo(BROKEN);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isEqualTo(1);
    one.buffer.giveUp(1, pass);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isEqualTo(StagingBuffer.NEVER_MORE);
  }

  @Test
  void whatSomebodyNeedsIsNotFilledAnew() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered pass = one.begins();
    two.begins();
    one.stages(pass);
    one.stages(pass);
    one.buffer.advance(pass, 2);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(pass, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.member()).isEqualTo(two.member);
    assertThat(state(pass)).isEqualTo(OPEN);
    two.buffer.advance(pass, 1);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isZero();
    assertThat(state(pass)).as("nobody may enter any more").isEqualTo(SLIDING);
    assertThat(one.counters.dropped.sum()).isZero();
  }

  @Test
  void aHeldSlotIsNotFilledAnew() {
    Job one = new Job(1);
    slots(2);
    Entered pass = one.begins();
    int slot = one.stages(pass);
    one.stages(pass);
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(slot);
    assertThat(one.buffer.length(slot)).isEqualTo(100);
    one.buffer.advance(pass, 1);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isEqualTo(StagingBuffer.NOT_NOW);
    one.buffer.release(slot);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isEqualTo(slot);
  }

  @Test
  void whoDoesNotGetOnIsTakenOutOfThePass() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered pass = one.begins();
    two.begins();
    one.stages(pass);
    one.stages(pass);
    one.buffer.advance(pass, 2);
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isEqualTo(StagingBuffer.NOT_NOW);
    clock.now += 201;
    assertThat(one.buffer.takeSlot(pass, new Blocker())).isZero();
    assertThat(one.counters.dropped.sum()).isEqualTo(1);
    assertThat(one.buffer.isShared(pass)).isFalse();
    one.stages(pass);
    assertThat(two.buffer.tryTake(pass, 0)).as("it finds it gone").isEqualTo(StagingBuffer.LOST);
  }

  @Test
  void theFirstBatchesAreKeptForThoseWhoHaveYetToCome() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(2);
    Entered pass = one.begins();
    one.stages(pass);
    one.stages(pass);
    one.buffer.advance(pass, 2);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(pass, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.member()).isEqualTo(two.member);
    memory.set(
        StagingDescriptor.member(two.member) + MEMBER_CURSOR, StagingDescriptor.cursor(1, ALL));
    assertThat(one.buffer.takeSlot(pass, new Blocker())).as("it does not come").isZero();
  }

  @Test
  void aNewerPassLeavesHalfOfTheSlotsToTheOlder() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered old = one.begins();
    two.begins();
    one.buffer.leave(old);
    Entered next = one.begins();
    assertThat(one.buffer.takeSlot(next, new Blocker())).isZero();
    assertThat(one.buffer.takeSlot(next, new Blocker())).isEqualTo(1);
    Blocker blocker = new Blocker();
    assertThat(one.buffer.takeSlot(next, blocker)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(blocker.member()).isEqualTo(two.member);
    assertThat(StagingDescriptor.state(slot(2))).as("given back").isEqualTo(FREE);
    assertThat(two.buffer.takeSlot(old, new Blocker())).as("to the older").isEqualTo(2);
    two.buffer.giveBack(2, old);
    two.buffer.leave(old);
    assertThat(one.buffer.takeSlot(next, new Blocker())).isEqualTo(2);
  }

  @Test
  void whatAnotherTookOverIsPublishedInVain() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered pass = one.begins();
    two.begins();
    int slot = two.buffer.takeSlot(pass, new Blocker());
    assertThat(two.buffer.claim(pass)).isZero();
    clock.now += 201; // Job 2 is stopped.
    assertThat(one.buffer.claim(pass)).as("seen for the first time").isEqualTo(1);
    clock.now += 201;
    assertThat(one.buffer.claim(pass)).isZero();
    assertThat(two.buffer.publish(pass, 0, slot, 100)).isFalse();
    assertThat(StagingDescriptor.state(slot(slot))).as("of use to others").isEqualTo(FREE);
    assertThat(two.buffer.publish(pass, 0, slot, 100)).as("not its slot").isFalse();
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(FREE);
  }

  // ---- using

  @Test
  void aStagedBatchIsHeldByEachUntilItReleasesIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(4);
    Entered pass = one.begins();
    two.begins();
    one.stages(pass);
    int slot = one.stages(pass);
    assertThat(claimState(pass, 1)).isEqualTo(STAGED);
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(READY);
    assertThat(one.buffer.tryTake(pass, 1)).isEqualTo(slot);
    assertThat(two.buffer.tryTake(pass, 1)).isEqualTo(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isEqualTo(0b11);
    one.buffer.release(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isEqualTo(1L << two.member);
    one.buffer.release(slot);
    two.buffer.release(slot);
    assertThat(StagingDescriptor.low(slot(slot))).isZero();
    assertThat(StagingDescriptor.state(slot(slot))).isEqualTo(READY);
    assertThat(two.buffer.length(slot)).isEqualTo(101);
  }

  @Test
  void whoFindsAnotherBatchInTheSlotHasLostIt() {
    Job one = new Job(1);
    slots(4);
    Entered pass = one.begins();
    int slot = one.stages(pass);
    long ready = slot(slot);
    for (long other :
        new long[] {
          StagingDescriptor.word(READY, 1, 1, 0),
          StagingDescriptor.word(READY, 3, 0, 0),
          StagingDescriptor.word(FILLING, 1, 0, 0)
        }) {
      memory.set(StagingDescriptor.slot(slot), other);
      assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.LOST);
      assertThat(slot(slot)).isEqualTo(other);
    }
    memory.set(StagingDescriptor.slot(slot), ready);
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(slot);
  }

  @Test
  void aBatchThatIsNotStagedIsWaitedForWhileSomebodyPreparesIt() {
    Job one = new Job(1);
    Job two = new Job(2);
    Entered pass = one.begins();
    two.begins();
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.NOBODY);
    two.buffer.produces(pass, true);
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    two.buffer.claim(pass);
    assertThat(StagingBuffer.isClaimed(pass, one.buffer.claimWord(pass, 0))).isTrue();
    assertThat(StagingBuffer.isClaimed(pass, one.buffer.claimWord(pass, 1))).isFalse();
    assertThat(StagingBuffer.isClaimed(pass, StagingDescriptor.word(1, 3, 1, 0))).isFalse();
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(one.counters.takeOvers.sum()).isZero();
    clock.now += 201; // Job 2 is stopped.
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.NOT_NOW);
    assertThat(one.counters.takeOvers.sum()).isEqualTo(1);
    assertThat(claimState(pass, 0)).isEqualTo(UNCLAIMED);
    assertThat(one.buffer.tryTake(pass, 0)).as("nobody is left").isEqualTo(StagingBuffer.NOBODY);
    one.buffer.claim(pass);
    one.buffer.unclaim(pass, 0, true);
    assertThat(one.buffer.tryTake(pass, 0)).isEqualTo(StagingBuffer.NOT_STAGED);
  }

  @Test
  void neverHalfOfTheSlotsAreKeptAndAnEighthByOne() {
    Job one = new Job(1);
    Job two = new Job(2);
    slots(16);
    for (int slot = 0; slot < 16; slot++) {
      memory.set(StagingDescriptor.slot(slot), StagingDescriptor.word(READY, 1, slot, 0));
    }
    hold(0, one);
    hold(1, one);
    assertThat(one.buffer.mayKeep()).as("two of 16").isTrue();
    hold(2, one);
    assertThat(one.buffer.mayKeep()).as("three of 16").isFalse();
    assertThat(two.buffer.mayKeep()).isTrue();
    for (int slot = 3; slot < 7; slot++) {
      hold(slot, new Job(10 + slot));
    }
    assertThat(two.buffer.mayKeep()).as("seven are held").isTrue();
    hold(7, new Job(20));
    assertThat(two.buffer.mayKeep()).as("eight are held").isFalse();
    memory.set(StagingDescriptor.slot(7), StagingDescriptor.word(FILLING, 1, 20, 1));
    assertThat(two.buffer.mayKeep()).as("one of them is being filled").isTrue();
  }

  @Test
  void ofFewSlotsOneMayBeKept() {
    Job one = new Job(1);
    slots(4);
    for (int slot = 0; slot < 4; slot++) {
      memory.set(StagingDescriptor.slot(slot), StagingDescriptor.word(READY, 1, slot, 0));
    }
    hold(0, one);
    assertThat(one.buffer.mayKeep()).isTrue();
    hold(1, one);
    assertThat(one.buffer.mayKeep()).isFalse();
  }

  private void hold(int slot, Job job) {
    memory.set(StagingDescriptor.slot(slot), slot(slot) | 1L << job.member);
  }

  // ---- members

  @Test
  void aMemberRunsAsLongAsItShowsSignsOfLife() {
    Job one = new Job(1);
    Job two = new Job(2);
    Members members = one.buffer.members();
    assertThat(members.running(two.member)).isTrue();
    assertThat(members.waitable(two.member)).isTrue();
    clock.now += 200;
    assertThat(members.running(two.member)).isTrue();
    clock.now += 1;
    assertThat(members.running(two.member)).isFalse();
    assertThat(members.holdsOn(2)).isFalse();
    assertThat(members.holdsOn(1)).as("itself").isTrue();
    assertThat(members.holdsOn(99)).as("no member").isFalse();
    two.beats();
    assertThat(members.running(two.member)).isTrue();
    assertThat(members.holdsOn(2)).isTrue();
    two.dies();
    assertThat(members.running(two.member)).isFalse();
    assertThat(members.running(9)).as("nobody").isFalse();
    assertThat(members.pid(two.member)).isEqualTo(1_002);
  }

  @Test
  void whateverAMemberDoesIsProgress() {
    Job one = new Job(1);
    Job two = new Job(2);
    Members members = one.buffer.members();
    long before = members.progress();
    assertThat(members.progress()).isEqualTo(before);
    Entered pass = two.begins();
    long begun = members.progress();
    assertThat(begun).isNotEqualTo(before);
    two.buffer.advance(pass, 1);
    assertThat(members.progress()).isNotEqualTo(begun);
  }
}
