package io.coordl.coordination;

import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BEAT;
import static io.coordl.coordination.StagingDescriptor.PARTICIPANT_BLOCKED;

import io.coordl.coordination.StagingBuffer.Entered;
import io.coordl.host.JobLiveness;
import io.coordl.host.MappedLength;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
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

/** This job's epochs over one pipeline, one at a time. Thread-safe. */
final class PipelineSession {
  private static final long PAUSE_NANOS = 1_000_000;
  private static final long NANOS_TO_END = 2_000_000_000;

  /**
   * Scanning for other jobs' files is slow, so it is done only this many times before a waiting job
   * reports that it is blocked.
   */
  private static final int CHECKS_BEFORE_BLOCKED = 4;

  /** Log key: batches that are not staged are reported once, whatever the reason. */
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
  private final Consumer<Boolean> notifyOthers;
  private final IntSupplier elsewhere;
  private final Runnable endedAlone;
  final Executor threads;
  final AtomicLong longestPreparation = new AtomicLong();

  /**
   * Shortest preparation of any of this job's batches so far, in ns; {@link Long#MAX_VALUE} before
   * the first.
   */
  final AtomicLong shortestPreparation = new AtomicLong(Long.MAX_VALUE);

  private final AtomicBoolean loggedFailure = new AtomicBoolean();

  /** Number of model updates so far; distinguishes training from evaluation. */
  volatile LongSupplier updates = () -> 0;

  private volatile boolean reportsBlocked;
  private volatile boolean begun;
  private volatile boolean stuck;
  private volatile long jobs = 1;
  private volatile boolean inVain;
  private final AtomicReference<@Nullable SharedEpoch> current = new AtomicReference<>();

  /**
   * @param job this job's number in the file
   * @param threads runs each task on a separate thread
   * @param faults receives the first failure on a preparing thread
   * @param notifyOthers receives whether the job waits here
   * @param elsewhere number of other jobs that wait to begin the first epoch of another pipeline
   * @param endedAlone runs after an epoch that no other job shared
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
      Consumer<Boolean> notifyOthers,
      IntSupplier elsewhere,
      Runnable endedAlone) {
    this.memory = memory;
    this.clock = clock;
    this.timeouts = timeouts;
    this.threads = threads;
    this.log = new OnceLog(log);
    this.faults = faults;
    this.notifyOthers = notifyOthers;
    this.elsewhere = elsewhere;
    this.endedAlone = endedAlone;
    this.participants = new Participants(memory, liveness, clock, timeouts, job);
    this.me = participants.participantOf(job);
    this.buffer = new StagingBuffer(memory, participants, liveness, counters, job, me);
  }

  /**
   * Ends the previous epoch and begins the next. Before the first epoch, waits for {@code jobs}
   * jobs. If the newest epoch cannot be entered, waits until a new one can be created ({@link
   * StagingBuffer}).
   *
   * @param jobs number of jobs to wait for before the very first epoch
   * @return null if no epoch could be begun
   */
  synchronized @Nullable SharedEpoch begin(BatchOrder own, int jobs) {
    SharedEpoch before = current.get();
    if (before != null) {
      before.end();
    }
    if (stuck) {
      return null; // Another thread would only hang as well.
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
                "Other jobs of the group are partway through an epoch: this job starts the next"
                    + " one. The size of the staging buffer (prep.size) limits how far it gets"
                    + " ahead of them.");
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
        // Jobs without progress for the whole lease are no longer waited for, so only
        // a job that was suspended while it created the epoch can still block this one.
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

  /** Whether the first epoch began with fewer jobs than this job waited for. */
  boolean waitedInVain() {
    return inVain;
  }

  private void awaitJobs(int jobs) {
    long began = clock.nanos();
    long interval = timeouts.blocked().toNanos() / CHECKS_BEFORE_BLOCKED;
    long checkedAt = began;
    boolean logged = false;
    while (jobs > 1 && buffer.isFresh()) {
      int joined = gate.inside(participants::count, jobs);
      if (joined >= jobs) {
        return;
      }
      long now = clock.nanos();
      if (now - checkedAt > interval) {
        checkedAt = now;
        if (joined + elsewhere.getAsInt() >= jobs) {
          log.say(
              "Only %s of %s jobs joined this pipeline; the others are waiting at a different one."
                  + " The first epoch begins without them.",
              joined, jobs);
          inVain = true;
          return;
        }
      }
      long waited = now - began;
      if (waited > timeouts.start().toNanos()) {
        log.say(
            "%s of %s jobs arrived within %s s: the first epoch begins without the others.",
            joined, jobs, timeouts.start().toSeconds());
        inVain = true;
        return;
      }
      if (!logged && waited > timeouts.blocked().toNanos()) {
        logged = true;
        blocked(true); // The missing jobs may be waiting for this one at another pipeline.
        log.say("Waiting for " + jobs + " jobs; joined so far: " + joined + ".");
      }
      clock.pause(PAUSE_NANOS);
    }
  }

  /** Reports that a preparing thread hangs in the program's code and is abandoned there. */
  void stuck() {
    if (!stuck) {
      stuck = true;
      log.say(
          "A thread that prepares batches hangs in the program's code, perhaps on a lock that the"
              + " program holds. From now on this job prepares all batches of this pipeline"
              + " itself.");
    }
  }

  /** Reports that a preparing thread failed; the job prepares no more batches of this epoch. */
  void failed(Throwable cause) {
    if (!loggedFailure.getAndSet(true)) {
      faults.accept(cause);
    }
  }

  void ended(SharedEpoch epoch) {
    if (current.compareAndSet(epoch, null) && !epoch.wasShared()) {
      endedAlone.run();
    }
  }

  /** Reports whether the job waits in this pipeline. */
  void blocked(boolean now) {
    if (reportsBlocked != now) {
      reportsBlocked = now;
      notifyOthers.accept(now);
    }
  }

  /** Records whether the job waits in another pipeline. */
  void blockedElsewhere(boolean now) {
    gate.inside(
        () -> memory.set(StagingDescriptor.participant(me) + PARTICIPANT_BLOCKED, now ? 1 : 0));
  }

  /** Signals to the other jobs that this one is running. */
  void beat() {
    long at = StagingDescriptor.participant(me) + PARTICIPANT_BEAT;
    gate.inside(() -> memory.set(at, memory.get(at) + 1));
  }

  /**
   * Reads a slot that this job holds and releases it; null if the slot cannot be mapped, its memory
   * is damaged, or there is no memory for the result.
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
      T result = reader.read(readable.order(ByteOrder.nativeOrder()));
      MappedLength.settle();
      counters.count(sum -> sum.taken++);
      counters.count(sum -> sum.takenBytes += bytes);
      return result;
    } catch (InternalError e) {
      if (memory.isSound()) {
        throw e; // The reader's own error.
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

  /** False if the memory is damaged or no longer used; the thread that detects damage logs it. */
  private boolean isUsable() {
    return gate.isOpen() && memory.isSound();
  }

  void cannotStage(long bytes, long slotBytes, int slots) {
    if (isUsable()) {
      log.once(
          UNSTAGED,
          "A batch has "
              + new Bytes(bytes)
              + ", but the staging buffer "
              + (slots == 0
                  ? String.format(
                      "has only %s, too little for two of this size (raise prep.size)",
                      new Bytes(memory.get(StagingDescriptor.BUDGET)))
                  : "was created for batches of " + new Bytes(slotBytes))
              + ": each job prepares such batches itself.");
    }
  }

  /** Stops using the memory, because another program has damaged it. */
  void damaged(InternalError cause) {
    gate.shut();
    log.say(
        "The staging buffer was damaged by another program (%s): this job prepares all batches of"
            + " this pipeline itself.",
        cause.getMessage());
  }

  void noMemory(IOException cause) {
    if (isUsable()) {
      log.once(
          UNSTAGED,
          String.format(
              "No memory left to grow the staging buffer (%s): it keeps its current size.",
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

  /** Ends the epoch and admits no more threads; false if a thread stays inside. */
  boolean close() {
    SharedEpoch epoch = current.get();
    if (epoch != null) {
      epoch.stop(NANOS_TO_END); // The native libraries those threads use may be about to unload.
    }
    return gate.close();
  }
}
