package io.coordl.coordination;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.coordination.StagingBuffer.Blocker;
import io.coordl.coordination.StagingBuffer.Entered;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of this job over its data set, shared with other jobs; retries the operations of {@link
 * StagingBuffer}. Every wait is bounded: whatever happens to the other jobs, this one can prepare
 * each batch of {@link #order} locally, so it uses every batch exactly once. Thread-safe.
 */
public final class SharedEpoch {
  private static final long MIN_PAUSE_NANOS = 50_000;
  private static final long USUAL_PAUSE_NANOS = 1_000_000;
  private static final long MAX_PAUSE_NANOS = 10_000_000;

  /**
   * Pauses grow to the shortest preparation divided by this, because a check costs about 40
   * microseconds.
   */
  private static final int PAUSES_PER_BATCH = 16;

  /** Patience as a multiple of the slowest preparation so far. */
  private static final int PATIENCE_FACTOR = 4;

  private final PipelineSession session;
  private final StagingBuffer buffer;
  private final Entered epoch;
  private final Gate gate;
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean sizing = new AtomicBoolean();
  private final AtomicInteger workers = new AtomicInteger();
  private final Set<Thread> producers = ConcurrentHashMap.newKeySet();
  private final Set<Thread> consumers = ConcurrentHashMap.newKeySet();
  private final BitSet usedBatches = new BitSet();
  private final AtomicBoolean hasLeft = new AtomicBoolean();
  private volatile boolean ended;
  private volatile boolean failed;
  private long updatesBefore;
  private volatile boolean shared;

  /**
   * Since when this job's producers have found neither a free slot nor a participant whose progress
   * would free one; 0 while they find either.
   */
  private volatile long starvedSince;

  SharedEpoch(PipelineSession session, Entered epoch) {
    this.session = session;
    this.buffer = session.buffer;
    this.epoch = epoch;
    this.gate = session.gate;
  }

  /** Returns the order that all jobs of this epoch follow; it may be this job's own. */
  public BatchOrder order() {
    return epoch.order();
  }

  // ---- preparing

  /**
   * Starts preparing this job's share on {@code threads} agent threads, or on fewer if no more can
   * be started. They may call {@code source} concurrently. A second call does nothing.
   */
  public void prepareWith(BatchSource source, int threads) {
    if (started.getAndSet(true) || !gate.inside(() -> buffer.produces(epoch, true))) {
      return;
    }
    workers.set(threads);
    for (int i = 0; i < threads; i++) {
      try {
        session.threads.execute(() -> work(source));
      } catch (OutOfMemoryError e) { // No more native threads.
        Bridge.fault("starting a thread that prepares batches", e);
        if (workers.addAndGet(i - threads) == 0) {
          stopProducing();
        }
        return;
      }
    }
  }

  /** Runs the loop of a preparing thread, until nothing is left to prepare. */
  void work(BatchSource source) {
    producers.add(Thread.currentThread());
    try {
      long pause = MIN_PAUSE_NANOS;
      while (!ended && !failed) {
        Blocker blocker = new Blocker();
        int step = step(source, blocker);
        if (step == StagingBuffer.NEVER_MORE) {
          return;
        }
        if (step == StagingBuffer.NOT_NOW) {
          long start = session.clock.nanos();
          session.clock.pause(pause);
          session.waitedFor(blocker.participant, session.clock.nanos() - start);
          pause = nextPause(pause);
        } else {
          pause = MIN_PAUSE_NANOS;
        }
      }
    } catch (Throwable t) {
      stopPreparing(t);
    } finally {
      producers.remove(Thread.currentThread());
      if (workers.decrementAndGet() == 0 || failed) {
        stopProducing();
      }
    }
  }

  private void stopProducing() {
    gate.inside(
        () -> {
          buffer.produces(epoch, false);
          buffer.giveUpSizing();
        });
  }

  /**
   * Prepares one batch if possible now; returns its number, or a status of {@link StagingBuffer}.
   */
  private int step(BatchSource source, Blocker blocker) {
    boolean first = buffer.slotBytes() == 0;
    if (first && sizing.getAndSet(true)) {
      return StagingBuffer.NOT_NOW; // Another thread is sizing the slots.
    }
    try {
      if (!gate.enter()) {
        return StagingBuffer.NEVER_MORE;
      }
      int slot;
      int batch;
      try {
        batch = buffer.nextUnclaimed(epoch);
        if (batch < 0) {
          starvedSince = 0;
          return batch;
        }
        if (first && !buffer.trySize()) {
          starve(blocker);
          return StagingBuffer.NOT_NOW;
        }
        slot = buffer.takeSlot(epoch, blocker);
        if (slot < 0) {
          starve(blocker);
          return slot;
        }
        starvedSince = 0;
        batch = buffer.claim(epoch);
        if (batch < 0) {
          buffer.giveBack(slot, epoch);
          return batch;
        }
      } finally {
        gate.exit();
      }
      prepare(source, batch, slot);
      return batch;
    } finally {
      if (first) {
        sizing.set(false);
      }
    }
  }

  /**
   * Called if no slot is free. Records since when no participant's progress would free one: waiting
   * may then not help.
   */
  private void starve(Blocker blocker) {
    if (blocker.participant >= 0) {
      starvedSince = 0;
    } else if (starvedSince == 0) {
      starvedSince = Math.max(1, session.clock.nanos());
    }
  }

  private void prepare(BatchSource source, int batch, int slot) {
    if (!Producers.enter()) {
      failed = true; // The agent is switched off.
      unclaim(batch, slot, false);
      return;
    }
    boolean staged = false;
    boolean forGood = false;
    long start = session.clock.nanos();
    try (PreparedBatch prepared = prepared(source, batch)) {
      session.took(session.clock.nanos() - start);
      if (gate.enter()) {
        try {
          staged = stage(prepared, batch, slot);
          forGood = true;
        } finally {
          gate.exit();
        }
      }
    } catch (Throwable t) {
      stopPreparing(t);
    } finally {
      Producers.exit();
      if (!staged) {
        unclaim(batch, slot, forGood);
      }
    }
  }

  /** Stops this job's preparation for the rest of the epoch. */
  private void stopPreparing(Throwable cause) {
    failed = true;
    if (!(cause instanceof NotPreparedException)) {
      session.failed(cause);
    }
  }

  private PreparedBatch prepared(BatchSource source, int batch) throws Exception {
    long span = Spans.enter(SpanKind.PRODUCER, null);
    try {
      return source.prepare(batch, epoch.order().items(batch));
    } finally {
      Spans.exit(span, null);
    }
  }

  private void unclaim(int batch, int slot, boolean forGood) {
    gate.inside(
        () -> {
          buffer.unclaim(epoch, batch, forGood);
          buffer.giveBack(slot, epoch);
        });
  }

  private boolean stage(PreparedBatch prepared, int batch, int slot) {
    long bytes = prepared.bytes();
    buffer.size(bytes);
    if (slot >= buffer.slots() || bytes > buffer.slotBytes()) {
      session.cannotStage(bytes, buffer.slotBytes(), buffer.slots());
      return false;
    }
    ByteBuffer target;
    try {
      target = session.memory.writable(slot, (int) bytes);
    } catch (IOException e) {
      session.noMemory(e);
      buffer.giveUp(slot, epoch);
      return false;
    }
    prepared.writeTo(target);
    if (buffer.publish(epoch, batch, slot, (int) bytes)) {
      session.counters.count(sum -> sum.prepared++);
      wake(consumers);
    } else {
      session.counters.count(sum -> sum.tooLate++);
    }
    return true;
  }

  // ---- using

  /**
   * Waits until one of the jobs has prepared the batch, then lets {@code reader} copy it. Each
   * batch may be used once, in any order and by any thread. Interrupts do not end the wait and are
   * not lost. The slot is released before this returns.
   *
   * @return null if the job must prepare the batch locally, for example because no job prepares it
   *     soon enough
   * @throws IOException if {@code reader} throws it
   */
  public <T> @Nullable T use(int batch, BatchReader<T> reader) throws IOException {
    if (ended || batch < 0 || batch >= epoch.order().batches()) {
      return null;
    }
    long start = session.clock.nanos();
    @Nullable T result = null;
    Consumer<StagingStatisticsEvent> whyLocal = sum -> sum.nobody++;
    consumers.add(Thread.currentThread());
    try {
      int slot = await(batch, start);
      consumers.remove(Thread.currentThread());
      whyLocal =
          switch (slot) {
            case StagingBuffer.NOBODY -> sum -> sum.nobody++;
            case StagingBuffer.NOT_STAGED -> sum -> sum.notStaged++;
            case StagingBuffer.NOT_NOW -> sum -> sum.late++;
            default -> sum -> sum.lost++;
          };
      if (slot >= 0 && gate.enter()) { // The job cannot leave while the bytes are read.
        try {
          result = session.read(slot, reader);
        } finally {
          gate.exit();
        }
      }
    } finally {
      consumers.remove(Thread.currentThread());
      gate.inside(() -> used(batch));
      session.blocked(false);
      long waited = session.clock.nanos() - start;
      session.counters.count(sum -> sum.waited += waited);
    }
    if (result == null) {
      session.counters.count(whyLocal);
    }
    return result;
  }

  /**
   * Waits for the batch and returns its slot, now held; else the reason, NOT_NOW if waiting longer
   * is pointless.
   */
  private int await(int batch, long start) {
    long pause = MIN_PAUSE_NANOS;
    long claim = -1;
    long progress = -1;
    long claimedAt = start;
    long progressAt = start;
    while (!ended) {
      int slot = gate.inside(() -> buffer.tryTake(epoch, batch), StagingBuffer.NOBODY);
      if (slot != StagingBuffer.NOT_NOW) {
        return slot;
      }
      long now = session.clock.nanos();
      long claimNow = buffer.claimWord(epoch, batch);
      if (claimNow != claim) {
        claim = claimNow;
        claimedAt = now;
      }
      long progressNow = buffer.participants.progress() + claimNow;
      if (progressNow != progress) {
        progress = progressNow;
        progressAt = now;
      }
      long patience = patience();
      long starved = starvedSince;
      boolean claimed = StagingBuffer.isClaimed(epoch, claimNow);
      if ((claimed && now - claimedAt > patience)
          || (!claimed && starved != 0 && now - starved > patience)
          || now - progressAt > patience + session.timeouts.lease().toNanos()) {
        return StagingBuffer.NOT_NOW;
      }
      if (now - start > session.timeouts.blocked().toNanos()) {
        session.blocked(true);
      }
      session.clock.pause(pause);
      pause = nextPause(pause);
    }
    return StagingBuffer.NOBODY;
  }

  /** Returns the pause that follows one of this length. */
  private long nextPause(long pause) {
    long shortest = session.shortestPreparation.get();
    long last = shortest == Long.MAX_VALUE ? 0 : shortest / PAUSES_PER_BATCH;
    return Math.min(Math.max(USUAL_PAUSE_NANOS, Math.min(MAX_PAUSE_NANOS, last)), pause * 2);
  }

  /** Ends the pauses of these threads; a spurious wake-up is harmless. */
  private static void wake(Set<Thread> threads) {
    threads.forEach(LockSupport::unpark);
  }

  private long patience() {
    return Math.max(
        session.timeouts.patience().toNanos(), PATIENCE_FACTOR * session.longestPreparation.get());
  }

  private void used(int batch) {
    synchronized (usedBatches) {
      long updates = session.updates.getAsLong();
      if (!usedBatches.isEmpty()) {
        long more = updates - updatesBefore;
        session.counters.count(sum -> sum.updates += more);
      }
      updatesBefore = updates;
      usedBatches.set(batch);
      if (!shared && buffer.isShared(epoch)) {
        shared = true;
        // Count now: a training loop that exits early never ends its epoch.
        session.counters.count(sum -> sum.sharedEpochs++);
      }
      if (!hasLeft.get()) {
        buffer.advance(epoch, usedBatches.nextClearBit(0));
      }
    }
  }

  /** Ends preparation; false if a thread is still in the program's code after this time. */
  boolean stop(long nanos) {
    ended = true;
    wake(producers);
    long pause = USUAL_PAUSE_NANOS / 4;
    // Counts pauses rather than time, which also passes while the whole job is suspended.
    for (long left = nanos; workers.get() > 0; left -= pause) {
      if (left <= 0) {
        return false;
      }
      session.clock.pause(pause);
    }
    return true;
  }

  /** Whether another job participated while this one used batches. */
  boolean wasShared() {
    return shared;
  }

  /**
   * Ends this job's use of the epoch. Call when the job has reached the end, has left the loop, or
   * starts another epoch. When this returns, the agent's threads have left {@link
   * BatchSource#prepare}, unless they hang there. A second call does nothing.
   */
  public void end() {
    if (!stop(Math.max(session.timeouts.lease().toNanos(), patience()))) {
      session.stuck();
    }
    synchronized (usedBatches) {
      if (!hasLeft.getAndSet(true)) {
        gate.inside(() -> buffer.leave(epoch));
      }
    }
    session.ended(this);
  }
}
