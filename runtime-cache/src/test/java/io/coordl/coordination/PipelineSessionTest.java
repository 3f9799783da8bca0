package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.CREATING;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BLOCKED;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_PRODUCES;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Exact waits, log lines and counters of jobs that share a pipeline. Runs on one thread: time
 * passes only in pauses or where a test advances it, and the test runs the work of the preparing
 * threads.
 */
class PipelineSessionTest {
  private static final int BATCHES = 4;
  private static final long MILLI = 1_000_000;

  /** The longest pause between two checks. */
  private static final long PAUSE = MILLI;

  private static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofMillis(300),
          Duration.ofMillis(200),
          Duration.ofMillis(400),
          Duration.ofMillis(50),
          Duration.ofSeconds(1));

  private final Words memory = new Words(BATCHES, BATCHES);
  private final Words.Time clock = new Words.Time();
  private final Set<Long> living = new HashSet<>();
  private int elsewhere;

  PipelineSessionTest() {
    memory.set(StagingDescriptor.BUDGET, 8 * StagingDescriptor.PAGE);
    clock.whenPaused.add(
        () -> {
          for (long job : living) {
            long at = StagingDescriptor.participant((int) job - 1) + PARTICIPANT_BEAT;
            memory.set(at, memory.get(at) + 1);
          }
        });
  }

  /** A job and its log; participants are numbered in order of arrival. */
  private final class Job {
    final List<String> logged = new ArrayList<>();
    final List<Throwable> faults = new ArrayList<>();
    final List<Boolean> blocked = new ArrayList<>();
    long blockedAt;
    final Deque<Runnable> threads = new ArrayDeque<>();
    final PipelineSession session;
    int endedAlone;
    int prepared;
    boolean noThreads;

    Job() {
      long number = living.size() + 1L;
      living.add(number);
      assertThat(Participants.enter(memory, number, 1_000 + number, living::contains)).isTrue();
      session =
          new PipelineSession(
              memory,
              Words.liveness(living),
              clock,
              TIMEOUTS,
              number,
              this::start,
              logged::add,
              faults::add,
              now -> {
                blocked.add(now);
                blockedAt = now ? clock.now : blockedAt;
              },
              () -> elsewhere,
              () -> endedAlone++);
    }

    private void start(Runnable work) {
      if (noThreads) {
        throw new OutOfMemoryError("no more threads");
      }
      threads.add(work);
    }

    SharedEpoch begin() {
      return begin(1);
    }

    SharedEpoch begin(int jobs) {
      return session.begin(BatchOrder.evenly(new int[] {10, 11, 12, 13}, 1), jobs);
    }

    /** Returns a batch of {@code bytes} bytes, each of which is the batch number. */
    PreparedBatch batch(int number, long bytes) {
      prepared++;
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return bytes;
        }

        @Override
        public void writeTo(ByteBuffer target) {
          for (int i = 0; i < bytes; i++) {
            target.put(i, (byte) number);
          }
        }

        @Override
        public void close() {}
      };
    }
  }

  private void assertWaited(long began, long nanos) {
    assertThat(clock.now - began).isGreaterThan(nanos).isLessThanOrEqualTo(nanos + PAUSE);
  }

  /** Nanoseconds waited in vain for a batch; -1 if it was staged in time. */
  private long waitInVain(SharedEpoch epoch, int batch) {
    long began = clock.now;
    return Batches.take(epoch, batch) == null ? clock.now - began : -1;
  }

  private static void assertTaken(SharedEpoch epoch, int batch, int bytes) {
    ByteBuffer staged = Batches.take(epoch, batch);
    assertThat(staged).as("batch %d", batch).isNotNull();
    assertThat(staged.capacity()).isEqualTo(bytes);
    assertThat(staged.get(bytes - 1)).isEqualTo((byte) batch);
  }

  // ---- waiting for a batch

  @Test
  void aBatchThatNobodyPreparesIsNotWaitedFor() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();

    assertThat(Batches.take(epoch, 0)).isNull();

    assertThat(clock.now).isEqualTo(1);
    assertThat(job.session.counters.now().nobody).isEqualTo(1);
    assertThat(Batches.take(epoch, -1)).isNull();
    assertThat(Batches.take(epoch, BATCHES)).isNull();
    assertThat(job.session.counters.now().nobody).as("there is no such batch").isEqualTo(1);
  }

  @Test
  void aClaimedBatchIsWaitedForUntilPatienceEnds() {
    Job job = new Job();
    Job slow = new Job();
    SharedEpoch epoch = job.begin();
    long[] waited = {0};
    slow.begin()
        .prepareWith(
            (batch, items) -> {
              if (batch == 0) {
                clock.now += 7 * MILLI;
                waited[0] = waitInVain(epoch, 0);
              }
              return slow.batch(batch, 100);
            },
            1);
    slow.threads.remove().run();

    assertThat(waited[0]).isBetween(300 * MILLI + 1, 301 * MILLI);
    assertThat(job.session.counters.now().late).isEqualTo(1);
    assertThat(job.blocked).containsExactly(true, false);
    assertThat(job.blockedAt).isBetween(57 * MILLI + 1, 58 * MILLI + 1);
    assertThat(job.session.counters.now().waited).isEqualTo(waited[0]);
    assertThat(slow.prepared).isEqualTo(BATCHES);
    assertTaken(epoch, 1, 100);
  }

  @Test
  void slowBatchesAreWaitedForLonger() {
    Job job = new Job();
    Job slow = new Job();
    SharedEpoch epoch = job.begin();
    job.session.took(101 * MILLI);
    job.session.took(60 * MILLI);
    long[] waited = {0};
    slow.begin()
        .prepareWith(
            (batch, items) -> {
              waited[0] = waitInVain(epoch, batch);
              throw new NotPreparedException(new IOException("gone"));
            },
            1);
    slow.threads.remove().run();

    // Four times the longest preparation, checked every 1/16 of the shortest.
    assertThat(waited[0]).isBetween(404 * MILLI + 1, 404 * MILLI + 3_750_000);
    assertThat(job.session.longestPreparation.get()).isEqualTo(101 * MILLI);
    assertThat(job.session.shortestPreparation.get()).isEqualTo(60 * MILLI);
    assertThat(job.session.counters.now().late).isEqualTo(1);
  }

  @Test
  void anUnclaimedBatchIsWaitedForWhileAnyJobMakesProgress() {
    Job job = new Job();
    Job idle = new Job();
    SharedEpoch epoch = job.begin();
    SharedEpoch other = idle.begin();
    other.prepareWith((batch, items) -> idle.batch(batch, 100), 1);
    long[] got = {0};
    clock.whenPaused.add(
        () -> {
          if (got[0] == 0 && clock.now > 200 * MILLI) {
            got[0] = clock.now;
            idle.session.buffer.advance(entered(), 1);
          }
        });

    assertThat(Batches.take(epoch, 0)).isNull();

    assertWaited(got[0], TIMEOUTS.patience().plus(TIMEOUTS.lease()).toNanos());
    assertThat(job.session.counters.now().late).isEqualTo(1);
  }

  private StagingBuffer.Entered entered() {
    return new StagingBuffer.Entered(1, memory.epoch(1), new BatchOrder(new int[4], new int[] {4}));
  }

  /** Runs the action once, at the next pause. */
  private void whenPaused(Runnable action) {
    boolean[] ran = {false};
    clock.whenPaused.add(
        () -> {
          if (!ran[0]) {
            ran[0] = true;
            action.run();
          }
        });
  }

  @Test
  void slotsThatNobodyFreesAreWaitedForUntilPatienceEnds() {
    Job job = new Job();
    Job hung = new Job();
    SharedEpoch epoch = job.begin();
    hung.begin();
    for (int slot = 0; slot < StagingDescriptor.MAX_SLOTS; slot++) {
      memory.set(
          StagingDescriptor.slot(slot), StagingDescriptor.word(StagingDescriptor.FILLING, 1, 2, 0));
    }
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    long[] waited = {0};
    whenPaused(
        () -> {
          waited[0] = waitInVain(epoch, 0);
          epoch.stop(0);
        });
    job.threads.remove().run();

    // The wait began one pause of 50 us earlier.
    assertThat(waited[0]).isBetween(300 * MILLI - 50_000 + 1, 301 * MILLI);
    assertThat(job.session.counters.now().late).isEqualTo(1);
    assertThat(job.prepared).isZero();
  }

  @Test
  void aJobThatWaitsForASlotReportsWhomItWaitsFor() {
    Job job = new Job();
    memory.set(StagingDescriptor.BUDGET, 2 * StagingDescriptor.PAGE);
    Job slow = new Job();
    SharedEpoch epoch = job.begin();
    SharedEpoch others = slow.begin();
    epoch.prepareWith(
        (batch, items) -> {
          if (batch > 0) {
            assertTaken(epoch, batch - 1, 100);
          }
          return job.batch(batch, 100);
        },
        1);
    int[] next = {0};
    clock.whenPaused.add(() -> assertTaken(others, next[0]++, 100));
    job.threads.remove().run();

    assertThat(job.prepared).isEqualTo(BATCHES);
    // Only the second of two 50 us pauses counts: in the first, the job itself still needed the
    // slot.
    assertThat(job.session.counters.now().slowestJob).isEqualTo(1_002L);
    assertThat(job.session.counters.now().waitedForSlowest).isEqualTo(50_000);
    assertThat(job.session.counters.now().waitedFor).as("for all jobs").isEqualTo(50_000);
  }

  @Test
  void aJobThatEndedItsEpochTakesNothingMore() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    job.threads.remove().run();
    epoch.end();

    assertThat(Batches.take(epoch, 0)).isNull();
    assertThat(job.prepared).isEqualTo(BATCHES);
    assertThat(memory.get(StagingDescriptor.participant(0) + PARTICIPANT_PRODUCES)).isZero();
    assertThat(job.endedAlone).isEqualTo(1);
    epoch.end();
    assertThat(job.endedAlone).isEqualTo(1);
  }

  // ---- preparing

  @Test
  void aBatchLargerThanTheFirstIsLeftToEachJobAndLoggedOnce() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    epoch.prepareWith((batch, items) -> job.batch(batch, batch < 1 ? 100 : 5_000), 1);
    job.threads.remove().run();

    assertTaken(epoch, 0, 100);
    assertThat(Batches.take(epoch, 2)).isNull();
    assertThat(job.session.counters.now().notStaged).isEqualTo(1);
    assertThat(job.logged)
        .containsExactly(
            "A batch has 4.9 KiB, but the staging buffer was created for batches of 4.0 KiB: each"
                + " job prepares such batches itself.");
  }

  @Test
  void slotsWithoutMemoryAreGivenUp() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    memory.noMemory = "No space left";
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    job.threads.remove().run();

    assertThat(Batches.take(epoch, 0)).isNull();
    assertThat(job.logged)
        .containsExactly(
            "No memory left to grow the staging buffer (No space left): it keeps its current"
                + " size.");
    assertThat(StagingDescriptor.state(memory.get(StagingDescriptor.slot(0))))
        .isEqualTo(StagingDescriptor.BROKEN);
  }

  @Test
  void aFaultIsReportedOnceAndEndsPreparing() {
    Job job = new Job();
    for (int i = 0; i < 3; i++) {
      SharedEpoch epoch = job.begin();
      epoch.prepareWith(
          (batch, items) -> {
            throw new IllegalStateException("no array");
          },
          1);
      job.threads.remove().run();
      assertThat(memory.get(StagingDescriptor.participant(0) + PARTICIPANT_PRODUCES)).isZero();
      assertThat(memory.get(StagingDescriptor.SIZER)).isZero();
      assertThat(StagingDescriptor.state(memory.get(StagingDescriptor.slot(0))))
          .isEqualTo(StagingDescriptor.FREE);
    }
    assertThat(job.faults).singleElement().extracting(Throwable::getMessage).isEqualTo("no array");
  }

  @Test
  void aJobThatCanStartNoThreadPreparesNothing() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    job.noThreads = true;
    List<String> faults = new ArrayList<>();
    Bridge.install(SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where));
    try {
      epoch.prepareWith((batch, items) -> job.batch(batch, 100), 2);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }

    assertThat(faults).containsExactly("starting a thread that prepares batches");
    assertThat(memory.get(StagingDescriptor.participant(0) + PARTICIPANT_PRODUCES)).isZero();
    assertThat(epoch.stop(0)).as("no thread is running").isTrue();
  }

  @Test
  void aHungThreadIsWaitedForAndThenAbandoned() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    long began = clock.now;

    epoch.end();

    assertThat(clock.now - began).isEqualTo(TIMEOUTS.lease().toNanos());
    assertThat(job.logged).singleElement().asString().contains("hangs in the program's code");
    assertThat(job.begin()).isNull();
  }

  // ---- beginning an epoch

  @Test
  void beginningAnEpochEndsThePreviousOne() {
    Job job = new Job();
    SharedEpoch before = job.begin();

    SharedEpoch next = job.begin();

    assertThat(next).isNotNull().isNotSameAs(before);
    assertThat(Batches.take(before, 0)).isNull();
    assertThat(job.session.counters.now().epochs).isEqualTo(2);
    assertThat(job.endedAlone).isEqualTo(1);
  }

  @Test
  void anOrderTooLongForTheBufferIsNotShared() {
    Job job = new Job();

    assertThat(job.session.begin(BatchOrder.evenly(new int[BATCHES + 1], 2), 1)).isNull();

    assertThat(job.logged).singleElement().asString().contains("more items or batches");
  }

  @Test
  void aJobStoppedWhileItCreatesAnEpochIsWaitedForUntilItsLeaseEnds() {
    Job job = new Job();
    new Job();
    memory.set(memory.epoch(1).state(), StagingDescriptor.word(CREATING, 1, 2, 0));
    long[] got = {0};
    clock.whenPaused.add(
        () -> {
          if (got[0] == 0 && clock.now > 100 * MILLI) {
            got[0] = clock.now;
            long cursor = StagingDescriptor.participant(1) + StagingDescriptor.PARTICIPANT_CURSOR;
            memory.set(cursor, StagingDescriptor.cursor(1, 1));
          }
        });

    assertThat(job.begin()).isNull();

    assertWaited(got[0], TIMEOUTS.lease().plus(TIMEOUTS.beat()).toNanos());
    assertThat(job.blocked).containsExactly(true, false);
    assertThat(job.blockedAt).isBetween(50 * MILLI + 1, 50 * MILLI + 1 + PAUSE);
  }

  @Test
  void onlyTheFirstEpochWaitsForJobs() {
    Job job = new Job();

    job.begin(3);

    assertWaited(1, TIMEOUTS.start().toNanos());
    assertThat(job.logged)
        .containsExactly(
            "Waiting for 3 jobs; joined so far: 1.",
            "1 of 3 jobs arrived within 1 s: the first epoch begins without the others.");
    assertThat(job.blocked).containsExactly(true, false);
    assertThat(job.session.waitedInVain()).isTrue();
    long began = clock.now;
    job.begin(3);
    assertThat(clock.now).isEqualTo(began);
  }

  @Test
  void jobsThatWaitAtAnotherPipelineAreNotWaitedFor() {
    Job job = new Job();
    elsewhere = 2;

    job.begin(3);

    assertWaited(1, TIMEOUTS.blocked().toNanos() / 4);
    assertThat(job.logged)
        .containsExactly(
            "Only 1 of 3 jobs joined this pipeline; the others are waiting at a different one."
                + " The first epoch begins without them.");
    assertThat(job.session.waitedInVain()).isTrue();
  }

  @Test
  void theFirstEpochBeginsWhenAllJobsHaveJoined() {
    Job job = new Job();
    clock.whenPaused.add(
        () -> {
          if (living.size() == 1) {
            new Job();
          }
        });

    job.begin(2);

    assertThat(clock.now).isEqualTo(1 + PAUSE);
    assertThat(job.logged).isEmpty();
    assertThat(job.session.waitedInVain()).isFalse();
  }

  // ---- counters and heartbeats

  @Test
  void aJobsWorkIsCounted() {
    Job job = new Job();
    Job other = new Job();
    SharedEpoch epoch = job.begin();
    SharedEpoch others = other.begin();
    epoch.prepareWith(
        (batch, items) -> {
          clock.now += 5 * MILLI;
          return job.batch(batch, 100);
        },
        1);
    job.threads.remove().run();
    assertThat(job.session.longestPreparation.get()).isEqualTo(5 * MILLI);
    assertThat(job.session.shortestPreparation.get()).isEqualTo(5 * MILLI);
    for (int batch = 0; batch < BATCHES; batch++) {
      assertTaken(epoch, batch, 100);
    }
    job.session.waitedFor(1, 30);
    job.session.waitedFor(1, 12);
    job.session.waitedFor(0, 1_000); // Itself.
    job.session.waitedFor(-1, 1_000); // No participant.

    StagingStatisticsEvent expected = new StagingStatisticsEvent();
    expected.group = "g";
    expected.pipeline = "p";
    expected.capacity = 8 * 4096;
    expected.slots = 8;
    expected.slotBytes = 4096;
    expected.jobs = 2;
    expected.epochs = 1;
    expected.sharedEpochs = 1;
    expected.prepared = 4;
    expected.taken = 4;
    expected.takenBytes = 400;
    expected.waitedFor = 42;
    expected.slowestJob = 1_002;
    expected.waitedForSlowest = 42;
    assertThat(job.session.statistics("g", "p")).usingRecursiveComparison().isEqualTo(expected);
    epoch.end();
    others.end();
    assertThat(job.endedAlone).isZero();
    assertThat(epoch.wasShared()).isTrue();
  }

  @Test
  void heartbeatsAndWaitsElsewhereArePublished() {
    Job job = new Job();
    long participant = StagingDescriptor.participant(0);

    job.session.beat();
    job.session.beat();
    assertThat(memory.get(participant + PARTICIPANT_BEAT)).isEqualTo(2);
    job.session.blockedElsewhere(true);
    assertThat(memory.get(participant + PARTICIPANT_BLOCKED)).isEqualTo(1);
    job.session.blockedElsewhere(false);
    assertThat(memory.get(participant + PARTICIPANT_BLOCKED)).isZero();
    assertThat(job.session.close()).as("nobody is inside").isTrue();
    job.session.beat();
    assertThat(memory.get(participant + PARTICIPANT_BEAT)).isEqualTo(2);
  }

  @Test
  void damagedMemoryIsAbandonedAndThatIsLogged() {
    Job job = new Job();
    SharedEpoch epoch = job.begin();

    job.session.damaged(new InternalError("its file has 0 bytes"));

    assertThat(job.logged).singleElement().asString().contains("damaged by another program (its");
    assertThat(job.session.gate.isOpen()).isFalse();
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    assertThat(job.threads).isEmpty();
    assertThat(Batches.take(epoch, 0)).isNull();
    assertThat(job.session.counters.now().nobody).isEqualTo(1);
  }

  // ---- copying

  private long holders() {
    long holders = 0;
    for (int slot = 0; slot < StagingDescriptor.MAX_SLOTS; slot++) {
      holders += Long.bitCount(StagingDescriptor.low(memory.get(StagingDescriptor.slot(slot))));
    }
    return holders;
  }

  @Test
  void aBatchThatCannotBeReadIsLost() throws IOException {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    job.threads.remove().run();
    memory.noMemory = "Cannot allocate";

    assertThat(Batches.take(epoch, 0)).isNull();

    assertThat(job.session.counters.now().lost).isEqualTo(1);
    assertThat(holders()).isZero();
    memory.noMemory = null;
    assertThat(epoch.<Integer>use(1, ByteBuffer::remaining)).isEqualTo(100);
    assertThat(job.session.counters.now().takenBytes).isEqualTo(100);
  }

  @Test
  void aBatchThatDoesNotFitInMemoryIsLost() throws IOException {
    Job job = new Job();
    SharedEpoch epoch = job.begin();
    epoch.prepareWith((batch, items) -> job.batch(batch, 100), 1);
    job.threads.remove().run();

    Object result =
        epoch.use(
            0,
            bytes -> {
              assertThat(holders()).isEqualTo(1);
              throw new OutOfMemoryError("of javacpp.maxbytes");
            });

    assertThat(result).isNull();
    assertThat(job.session.counters.now().lost).isEqualTo(1);
    assertThat(job.session.counters.now().taken).isZero();
    assertThat(holders()).isZero();
  }
}
