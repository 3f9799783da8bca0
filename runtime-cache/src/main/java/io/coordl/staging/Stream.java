package io.coordl.staging;

import static io.coordl.staging.StagingDescriptor.MEMBER_BEAT;
import static io.coordl.staging.StagingDescriptor.MEMBER_BLOCKED;

import io.coordl.staging.StagingBuffer.Entered;
import io.coordl.staging.StagingCounters.Reason;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The passes of this job through one pipeline, one at a time. Thread-safe. */
final class Stream {
  private static final long PAUSE_NANOS = 1_000_000;
  private static final long NANOS_TO_END = 2_000_000_000;

  /** Looking for other jobs' files takes a while, so it is done only now and then. */
  private static final int LOOKS_BEFORE_BLOCKED = 4;

  private final StagingMemory memory;
  private final Clock clock;
  private final Bounds bounds;
  private final int me;
  private final Members members;
  private final StagingBuffer buffer;
  private final StagingCounters counters = new StagingCounters();
  private final Gate gate = new Gate();
  private final Holds holds;
  private final Consumer<String> words;
  private final Consumer<Throwable> faults;
  private final Consumer<Boolean> tellOthers;
  private final IntSupplier elsewhere;
  private final Runnable endedAlone;
  private final Executor threads;
  private final AtomicLong longestPreparation = new AtomicLong();
  private final AtomicLong shortestPreparation = new AtomicLong(Long.MAX_VALUE);
  private final AtomicBoolean saidUnstaged = new AtomicBoolean();
  private final AtomicBoolean saidLate = new AtomicBoolean();
  private final AtomicBoolean saidFailed = new AtomicBoolean();
  private volatile LongSupplier updates = () -> 0;
  private volatile boolean saysBlocked;
  private volatile boolean begun;
  private volatile boolean stuck;
  private volatile long jobs = 1;
  private volatile boolean inVain;
  private final AtomicReference<@Nullable SharedPass> current = new AtomicReference<>();

  /**
   * Of one job.
   *
   * @param job its number in the file
   * @param threads runs each task on a thread of its own
   * @param faults hears of the first failure on a thread that prepares
   * @param tellOthers hears whether the job waits here
   * @param elsewhere other jobs that wait to begin the first pass of another pipeline
   * @param endedAlone run after a pass that nobody shared
   */
  Stream(
      StagingMemory memory,
      Peers peers,
      Clock clock,
      Bounds bounds,
      long job,
      Executor threads,
      Consumer<String> words,
      Consumer<Throwable> faults,
      Consumer<Boolean> tellOthers,
      IntSupplier elsewhere,
      Runnable endedAlone) {
    this.memory = memory;
    this.clock = clock;
    this.bounds = bounds;
    this.threads = threads;
    this.words = words;
    this.faults = faults;
    this.tellOthers = tellOthers;
    this.elsewhere = elsewhere;
    this.endedAlone = endedAlone;
    this.members = new Members(memory, peers, clock, bounds, job);
    this.me = members.memberOf(job);
    this.buffer = new StagingBuffer(memory, members, peers, counters, job, me);
    this.holds = new Holds(memory, buffer, gate, counters, memory.get(StagingDescriptor.BUDGET));
  }

  StagingMemory memory() {
    return memory;
  }

  StagingBuffer buffer() {
    return buffer;
  }

  StagingCounters counters() {
    return counters;
  }

  Clock clock() {
    return clock;
  }

  Bounds bounds() {
    return bounds;
  }

  Gate gate() {
    return gate;
  }

  Holds holds() {
    return holds;
  }

  /**
   * Begins a pass; the one before ends. Waits for as many jobs as the first pass is to have, and
   * for others that are still in the pass before the newest.
   *
   * @param jobs to wait for before the first pass of all
   * @return null if that came to nothing
   */
  synchronized @Nullable SharedPass begin(BatchOrder own, int jobs) {
    SharedPass before = current.get();
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
      long progress = members.progress();
      long progressAt = began;
      while (gate.enter()) {
        Entered entered;
        try {
          if (!buffer.fits(own)) {
            words.accept(
                "This pass has more items or batches than the group's first one: it is not"
                    + " shared.");
            return null;
          }
          boolean late = buffer.comesLate();
          entered = buffer.tryBegin(own);
          if (late && !saidLate.getAndSet(true)) {
            words.accept(
                "Other jobs of the group are in the midst of a pass: this job goes ahead as far as"
                    + " prep.size allows, and shares the next one.");
          }
        } finally {
          gate.exit();
        }
        if (entered != null) {
          counters.passes.increment();
          SharedPass pass = new SharedPass(this, entered);
          current.set(pass);
          return pass;
        }
        long now = clock.nanos();
        if (members.progress() != progress) {
          progress = members.progress();
          progressAt = now;
        }
        // Whoever does not get on for the lease is no longer waited for; what is left is a job
        // that was stopped while it created the pass.
        if (now - progressAt > bounds.lease().plus(bounds.beat()).toNanos()) {
          return null;
        }
        if (now - began > bounds.blocked().toNanos()) {
          blocked(true);
        }
        clock.pause(PAUSE_NANOS);
      }
      return null;
    } finally {
      blocked(false);
    }
  }

  /** Whether fewer jobs came to the first pass than it waited for. */
  boolean waitedInVain() {
    return inVain;
  }

  private void awaitJobs(int jobs) {
    long began = clock.nanos();
    long look = bounds.blocked().toNanos() / LOOKS_BEFORE_BLOCKED;
    long looked = began;
    boolean said = false;
    while (jobs > 1 && buffer.isFresh() && gate.enter()) {
      int there;
      try {
        there = members.count();
      } finally {
        gate.exit();
      }
      if (there >= jobs) {
        return;
      }
      long now = clock.nanos();
      if (now - looked > look) {
        looked = now;
        if (there + elsewhere.getAsInt() >= jobs) {
          words.accept(
              there
                  + " of "
                  + jobs
                  + " jobs have this pipeline, the others wait with another one: the first pass"
                  + " begins without them.");
          inVain = true;
          return;
        }
      }
      long waited = now - began;
      if (waited > bounds.start().toNanos()) {
        words.accept(
            there
                + " of "
                + jobs
                + " jobs have come within "
                + bounds.start().toSeconds()
                + " s: the first pass begins without the others.");
        inVain = true;
        return;
      }
      if (!said && waited > bounds.blocked().toNanos()) {
        said = true;
        blocked(true); // Those who are to come may wait for this job elsewhere.
        words.accept("Waits for " + jobs + " jobs, " + there + " are there.");
      }
      clock.pause(PAUSE_NANOS);
    }
  }

  /** A thread that prepares does not come out of the program's code, and is left there. */
  void stuck() {
    if (!stuck) {
      stuck = true;
      words.accept(
          "A thread that prepares batches hangs in the program's code, perhaps on a lock that the"
              + " program holds: from now on the job prepares all batches of this pipeline"
              + " itself.");
    }
  }

  /** A thread that prepares met this; the job prepares no more batches of the epoch ahead. */
  void failed(Throwable cause) {
    if (!saidFailed.getAndSet(true)) {
      faults.accept(cause);
    }
  }

  void start(Runnable work) {
    threads.execute(work);
  }

  void ended(SharedPass pass) {
    if (current.compareAndSet(pass, null) && !pass.wasShared()) {
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
    if (gate.enter()) {
      try {
        memory.set(StagingDescriptor.member(me) + MEMBER_BLOCKED, now ? 1 : 0);
      } finally {
        gate.exit();
      }
    }
  }

  /** Shows that the job is not stopped, and gives back what the program has forgotten. */
  void beat() {
    holds.drain();
    if (gate.enter()) {
      try {
        long at = StagingDescriptor.member(me) + MEMBER_BEAT;
        memory.set(at, memory.get(at) + 1);
      } finally {
        gate.exit();
      }
    }
  }

  /** Counts the updates of models so far, by which training is told from evaluation. */
  void updates(LongSupplier counted) {
    updates = counted;
  }

  long updates() {
    return updates.getAsLong();
  }

  void waitedFor(int member, long nanos) {
    if (member >= 0 && member != me) {
      counters.waitedFor(members.pid(member), nanos);
    }
  }

  void took(long nanos) {
    longestPreparation.accumulateAndGet(nanos, Math::max);
    shortestPreparation.accumulateAndGet(nanos, Math::min);
  }

  long longestPreparation() {
    return longestPreparation.get();
  }

  /** Of this job's batches so far; {@link Long#MAX_VALUE} before the first. */
  long shortestPreparation() {
    return shortestPreparation.get();
  }

  void cannotStage(long bytes, long slotBytes, int slots) {
    if (gate.isOpen() && isSound() && !saidUnstaged.getAndSet(true)) {
      words.accept(
          "A batch has "
              + bytes
              + " bytes, but the staging buffer "
              + (slots == 0
                  ? "has "
                      + memory.get(StagingDescriptor.BUDGET)
                      + ", less than for two (raise prep.size)"
                  : "was made for batches of " + slotBytes)
              + ": each job prepares such batches itself.");
    }
  }

  /** False if the memory is damaged, which who noticed it is saying, perhaps at this moment. */
  private boolean isSound() {
    try {
      memory.check();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Another program has damaged the memory: nobody uses it from now on. */
  void damaged(InternalError cause) {
    gate.shut();
    words.accept(
        "The staging buffer was damaged by another program ("
            + cause.getMessage()
            + "): the job prepares all batches of this pipeline itself.");
  }

  void noMemory(IOException cause) {
    if (gate.isOpen() && isSound() && !saidUnstaged.getAndSet(true)) {
      words.accept(
          "There is no memory behind the staging buffer ("
              + cause.getMessage()
              + "): it stays as large as it is.");
    }
  }

  StagingStatistics statistics(String group, String pipeline) {
    if (gate.enter()) {
      try {
        jobs = members.count();
      } finally {
        gate.exit();
      }
    }
    long slowest = 0;
    long forSlowest = 0;
    long forAll = 0;
    for (Map.Entry<Long, LongAdder> one : counters.waitedFor().entrySet()) {
      long nanos = one.getValue().sum();
      forAll += nanos;
      if (nanos > forSlowest) {
        forSlowest = nanos;
        slowest = one.getKey();
      }
    }
    return new StagingStatistics(
        group,
        pipeline,
        memory.get(StagingDescriptor.BUDGET),
        buffer.slots(),
        buffer.slotBytes(),
        jobs,
        counters.passes.sum(),
        counters.sharedPasses.sum(),
        counters.prepared.sum(),
        counters.mapped.sum(),
        counters.copied.sum(),
        counters.takenBytes.sum(),
        counters.aloneBecause(Reason.NOBODY),
        counters.aloneBecause(Reason.NOT_STAGED),
        counters.aloneBecause(Reason.LATE),
        counters.aloneBecause(Reason.LOST),
        counters.waitNanos.sum(),
        forAll,
        slowest,
        forSlowest,
        counters.takeOvers.sum(),
        counters.dropped.sum(),
        counters.tooLate.sum(),
        counters.updates.sum());
  }

  /** Ends the pass and lets nobody in any more; false if somebody does not come out. */
  boolean close() {
    SharedPass pass = current.get();
    if (pass != null) {
      pass.stop(NANOS_TO_END); // The natives the threads are in may be about to go.
    }
    if (!gate.close()) {
      return false;
    }
    holds.detach();
    return true;
  }
}
