package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.staging.StagingDescriptor.PARTICIPANT_BLOCKED;

import io.coordl.event.StagingStatisticsEvent;
import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.shared.JobLiveness;
import io.coordl.shared.MappedLength;
import io.coordl.staging.StagingBuffer.Entered;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The epochs of this job through one pipeline, one at a time. Thread-safe. */
final class PipelineSession {
  private static final long PAUSE_NANOS = 1_000_000;
  private static final long NANOS_TO_END = 2_000_000_000;

  /** Looking for other jobs' files takes a while, so it is done only now and then. */
  private static final int LOOKS_BEFORE_BLOCKED = 4;

  /** What is said of batches that are not staged, once, whatever the reason. */
  private static final String UNSTAGED = "unstaged";

  final StagingMemory memory;
  final Clock clock;
  final Timeouts timeouts;
  private final int me;
  private final Participants participants;
  final StagingBuffer buffer;
  final StagingCounters counters = new StagingCounters();
  final Gate gate = new Gate();
  private final OnceLog log;
  private final Consumer<Throwable> faults;
  private final Consumer<Boolean> tellOthers;
  private final IntSupplier elsewhere;
  private final Runnable endedAlone;
  final Executor threads;
  final AtomicLong longestPreparation = new AtomicLong();

  /** Of this job's batches so far; {@link Long#MAX_VALUE} before the first. */
  final AtomicLong shortestPreparation = new AtomicLong(Long.MAX_VALUE);

  private final AtomicBoolean saidFailed = new AtomicBoolean();

  /** Counts the updates of models so far, by which training is told from evaluation. */
  volatile LongSupplier updates = () -> 0;

  private volatile boolean saysBlocked;
  private volatile boolean begun;
  private volatile boolean stuck;
  private volatile long jobs = 1;
  private volatile boolean inVain;
  private final AtomicReference<@Nullable SharedEpoch> current = new AtomicReference<>();

  /**
   * @param job its number in the file
   * @param threads runs each task on a thread of its own
   * @param faults hears of the first failure on a thread that prepares
   * @param tellOthers hears whether the job waits here
   * @param elsewhere other jobs that wait to begin the first epoch of another pipeline
   * @param endedAlone run after an epoch that no other job shared
   */
  PipelineSession(
      StagingMemory memory,
      JobLiveness liveness,
      Clock clock,
      Timeouts timeouts,
      long job,
      Executor threads,
      UserLog log,
      Consumer<Throwable> faults,
      Consumer<Boolean> tellOthers,
      IntSupplier elsewhere,
      Runnable endedAlone) {
    this.memory = memory;
    this.clock = clock;
    this.timeouts = timeouts;
    this.threads = threads;
    this.log = new OnceLog(log);
    this.faults = faults;
    this.tellOthers = tellOthers;
    this.elsewhere = elsewhere;
    this.endedAlone = endedAlone;
    this.participants = new Participants(memory, liveness, clock, timeouts, job);
    this.me = participants.participantOf(job);
    this.buffer = new StagingBuffer(memory, participants, liveness, counters, job, me);
  }

  /**
   * Begins an epoch; the one before ends. Waits for as many jobs as the first epoch is to have, and
   * for others that are still in the epoch before the newest.
   *
   * @param jobs to wait for before the first epoch of all
   * @return null if that came to nothing
   */
  synchronized @Nullable SharedEpoch begin(BatchOrder own, int jobs) {
    SharedEpoch before = current.get();
    if (before != null) {
      before.end();
    }
    if (stuck) {
      return null; // Another thread would only be the next one to hang.
    }
    try {
      if (!begun) {
        begun = true;
        awaitJobs(jobs);
      }
      long began = clock.nanos();
      long progress = participants.progress();
      long progressAt = began;
      while (gate.enter()) {
        Entered entered;
        try {
          if (!buffer.fits(own)) {
            log.say(
                "This epoch has more items or batches than the group's first one: it is not"
                    + " shared.");
            return null;
          }
          boolean late = buffer.comesLate();
          entered = buffer.tryBegin(own);
          if (late) {
            log.once(
                "Other jobs of the group are in the midst of an epoch: this job goes ahead as far"
                    + " as prep.size allows, and shares the next one.");
          }
        } finally {
          gate.exit();
        }
        if (entered != null) {
          counters.count(sum -> sum.epochs++);
          SharedEpoch epoch = new SharedEpoch(this, entered);
          current.set(epoch);
          return epoch;
        }
        long now = clock.nanos();
        if (participants.progress() != progress) {
          progress = participants.progress();
          progressAt = now;
        }
        // A job that does not get on for the lease is no longer waited for; what is left is one
        // that was stopped while it created the epoch.
        if (now - progressAt > timeouts.lease().plus(timeouts.beat()).toNanos()) {
          return null;
        }
        if (now - began > timeouts.blocked().toNanos()) {
          blocked(true);
        }
        clock.pause(PAUSE_NANOS);
      }
      return null;
    } finally {
      blocked(false);
    }
  }

  /** Whether fewer jobs came to the first epoch than it waited for. */
  boolean waitedInVain() {
    return inVain;
  }

  private void awaitJobs(int jobs) {
    long began = clock.nanos();
    long look = timeouts.blocked().toNanos() / LOOKS_BEFORE_BLOCKED;
    long looked = began;
    boolean said = false;
    while (jobs > 1 && buffer.isFresh()) {
      int there = gate.inside(participants::count, jobs);
      if (there >= jobs) {
        return;
      }
      long now = clock.nanos();
      if (now - looked > look) {
        looked = now;
        if (there + elsewhere.getAsInt() >= jobs) {
          log.say(
              "%s of %s jobs have this pipeline, the others wait with another one: the first epoch"
                  + " begins without them.",
              there, jobs);
          inVain = true;
          return;
        }
      }
      long waited = now - began;
      if (waited > timeouts.start().toNanos()) {
        log.say(
            "%s of %s jobs have come within %s s: the first epoch begins without the others.",
            there, jobs, timeouts.start().toSeconds());
        inVain = true;
        return;
      }
      if (!said && waited > timeouts.blocked().toNanos()) {
        said = true;
        blocked(true); // Those that are to come may wait for this job elsewhere.
        log.say("Waits for " + jobs + " jobs, " + there + " are there.");
      }
      clock.pause(PAUSE_NANOS);
    }
  }

  /** A thread that prepares does not come out of the program's code, and is left there. */
  void stuck() {
    if (!stuck) {
      stuck = true;
      log.say(
          "A thread that prepares batches hangs in the program's code, perhaps on a lock that the"
              + " program holds: from now on the job prepares all batches of this pipeline"
              + " itself.");
    }
  }

  /** A thread that prepares met this; the job prepares no more batches of the epoch. */
  void failed(Throwable cause) {
    if (!saidFailed.getAndSet(true)) {
      faults.accept(cause);
    }
  }

  void ended(SharedEpoch epoch) {
    if (current.compareAndSet(epoch, null) && !epoch.wasShared()) {
      endedAlone.run();
    }
  }

  /** The job waits here, or no longer. */
  void blocked(boolean now) {
    if (saysBlocked != now) {
      saysBlocked = now;
      tellOthers.accept(now);
    }
  }

  /** The job waits elsewhere, or no longer. */
  void blockedElsewhere(boolean now) {
    gate.inside(
        () -> memory.set(StagingDescriptor.participant(me) + PARTICIPANT_BLOCKED, now ? 1 : 0));
  }

  /** Shows that the job is not stopped. */
  void beat() {
    long at = StagingDescriptor.participant(me) + PARTICIPANT_BEAT;
    gate.inside(() -> memory.set(at, memory.get(at) + 1));
  }

  /**
   * What {@code reader} makes of a slot that this job holds, and gives back with that; null if
   * there is no way to the bytes, or no memory for what is made.
   */
  <T> @Nullable T read(int slot, BatchReader<T> reader) throws IOException {
    try {
      int bytes = buffer.length(slot);
      ByteBuffer readable;
      try {
        readable = memory.readable(slot, bytes).asReadOnlyBuffer();
      } catch (IOException e) {
        return null;
      }
      T made = reader.read(readable.order(ByteOrder.nativeOrder()));
      MappedLength.settle();
      counters.count(sum -> sum.taken++);
      counters.count(sum -> sum.takenBytes += bytes);
      return made;
    } catch (InternalError e) {
      if (memory.isSound()) {
        throw e; // It is the reader's own.
      }
      return null;
    } catch (OutOfMemoryError e) {
      return null;
    } finally {
      buffer.release(slot);
    }
  }

  void waitedFor(int participant, long nanos) {
    if (participant >= 0 && participant != me) {
      counters.waitedFor(participants.pid(participant), nanos);
    }
  }

  void took(long nanos) {
    longestPreparation.accumulateAndGet(nanos, Math::max);
    shortestPreparation.accumulateAndGet(nanos, Math::min);
  }

  /** False if the memory is damaged: the thread that noticed it says so. */
  private boolean isUsable() {
    return gate.isOpen() && memory.isSound();
  }

  void cannotStage(long bytes, long slotBytes, int slots) {
    if (isUsable()) {
      log.once(
          UNSTAGED,
          "A batch has "
              + bytes
              + " bytes, but the staging buffer "
              + (slots == 0
                  ? String.format(
                      "has %s, less than for two (raise prep.size)",
                      memory.get(StagingDescriptor.BUDGET))
                  : "was made for batches of " + slotBytes)
              + ": each job prepares such batches itself.");
    }
  }

  /** Another program has damaged the memory: it is not used from now on. */
  void damaged(InternalError cause) {
    gate.shut();
    log.say(
        "The staging buffer was damaged by another program (%s): the job prepares all batches of"
            + " this pipeline itself.",
        cause.getMessage());
  }

  void noMemory(IOException cause) {
    if (isUsable()) {
      log.once(
          UNSTAGED,
          String.format(
              "There is no memory behind the staging buffer (%s): it stays as large as it is.",
              cause.getMessage()));
    }
  }

  StagingStatisticsEvent statistics(String group, String pipeline) {
    gate.inside(() -> jobs = participants.count());
    StagingStatisticsEvent event = counters.now();
    event.group = group;
    event.pipeline = pipeline;
    event.capacity = memory.get(StagingDescriptor.BUDGET);
    event.slots = buffer.slots();
    event.slotBytes = buffer.slotBytes();
    event.jobs = jobs;
    return event;
  }

  /** Ends the epoch and lets no thread in any more; false if one does not come out. */
  boolean close() {
    SharedEpoch epoch = current.get();
    if (epoch != null) {
      epoch.stop(NANOS_TO_END); // The natives the threads are in may be about to go.
    }
    return gate.close();
  }
}
