package io.coordl.staging;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.staging.StagingBuffer.Blocker;
import io.coordl.staging.StagingBuffer.Entered;
import io.coordl.staging.StagingCounters.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One pass of one job: repeats the attempts of {@link StagingBuffer}, and ends waiting. */
final class SharedPass implements CoordinatedPass {
  private static final long FIRST_PAUSE_NANOS = 50_000;
  private static final long LAST_PAUSE_NANOS = 1_000_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000;

  /** Looking again costs some 40 microseconds, so who waits for long batches looks less often. */
  private static final int PAUSES_IN_A_BATCH = 16;

  /** Batches that take long to prepare are waited for longer. */
  private static final int PATIENCE_IN_BATCHES = 4;

  private final Stream stream;
  private final StagingBuffer buffer;
  private final Entered pass;
  private final StagingCounters counters;
  private final Clock clock;
  private final Bounds bounds;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final AtomicBoolean sizing = new AtomicBoolean();
  private final AtomicInteger workers = new AtomicInteger();
  private final Set<Thread> producers = ConcurrentHashMap.newKeySet();
  private final Set<Thread> takers = ConcurrentHashMap.newKeySet();
  private final BitSet taken = new BitSet();
  private final AtomicBoolean left = new AtomicBoolean();
  private volatile boolean ended;
  private volatile boolean failed;
  private long updatesBefore;
  private volatile boolean shared;

  /** Since when this job's producers wait for slots that nobody is going to free; 0 if not. */
  private volatile long starvedSince;

  SharedPass(Stream stream, Entered pass) {
    this.stream = stream;
    this.buffer = stream.buffer();
    this.pass = pass;
    this.counters = stream.counters();
    this.clock = stream.clock();
    this.bounds = stream.bounds();
  }

  @Override
  public BatchOrder order() {
    return pass.order();
  }

  // ---- preparing

  @Override
  public void prepareWith(BatchSource source, int threads) {
    if (begun.getAndSet(true) || !stream.gate().enter()) {
      return;
    }
    try {
      buffer.produces(pass, true);
    } finally {
      stream.gate().exit();
    }
    workers.set(threads);
    for (int i = 0; i < threads; i++) {
      try {
        stream.start(() -> work(source));
      } catch (OutOfMemoryError e) { // No more native threads.
        Bridge.fault("starting a thread that prepares batches", e);
        if (workers.addAndGet(i - threads) == 0) {
          stopProducing();
        }
        return;
      }
    }
  }

  /** What a thread that prepares does until there is nothing more to be prepared. */
  void work(BatchSource source) {
    producers.add(Thread.currentThread());
    try {
      long pause = FIRST_PAUSE_NANOS;
      while (!ended && !failed) {
        Blocker blocker = new Blocker();
        int step = step(source, blocker);
        if (step == StagingBuffer.NEVER_MORE) {
          return;
        }
        if (step == StagingBuffer.NOT_NOW) {
          long began = clock.nanos();
          clock.pause(pause);
          stream.waitedFor(blocker.member(), clock.nanos() - began);
          pause = longer(pause);
        } else {
          pause = FIRST_PAUSE_NANOS;
        }
      }
    } catch (Throwable t) {
      fails(t);
    } finally {
      producers.remove(Thread.currentThread());
      if (workers.decrementAndGet() == 0 || failed) {
        stopProducing();
      }
    }
  }

  private void stopProducing() {
    if (stream.gate().enter()) {
      try {
        buffer.produces(pass, false);
        buffer.giveUpSizing();
      } finally {
        stream.gate().exit();
      }
    }
  }

  /** Prepares one batch, if that is possible now; its number, or as {@link StagingBuffer} says. */
  private int step(BatchSource source, Blocker blocker) {
    boolean first = buffer.slotBytes() == 0;
    if (first && sizing.getAndSet(true)) {
      return StagingBuffer.NOT_NOW; // Another thread is at it.
    }
    try {
      if (!stream.gate().enter()) {
        return StagingBuffer.NEVER_MORE;
      }
      int slot;
      int batch;
      try {
        batch = buffer.nextUnclaimed(pass);
        if (batch < 0) {
          starvedSince = 0;
          return batch;
        }
        if (first && !buffer.trySize()) {
          starve(blocker);
          return StagingBuffer.NOT_NOW;
        }
        slot = buffer.takeSlot(pass, blocker);
        if (slot < 0) {
          starve(blocker);
          return slot;
        }
        starvedSince = 0;
        batch = buffer.claim(pass);
        if (batch < 0) {
          buffer.giveBack(slot, pass);
          return batch;
        }
      } finally {
        stream.gate().exit();
      }
      prepare(source, batch, slot);
      return batch;
    } finally {
      if (first) {
        sizing.set(false);
      }
    }
  }

  /** No slot: if that is no member's doing who gets on, it may stay so. */
  private void starve(Blocker blocker) {
    if (blocker.member() >= 0) {
      starvedSince = 0;
    } else if (starvedSince == 0) {
      starvedSince = Math.max(1, clock.nanos());
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
    long began = clock.nanos();
    try (PreparedBatch prepared = prepared(source, batch)) {
      stream.took(clock.nanos() - began);
      if (stream.gate().enter()) {
        try {
          staged = stage(prepared, batch, slot);
          forGood = true;
        } finally {
          stream.gate().exit();
        }
      }
    } catch (Throwable t) {
      fails(t);
    } finally {
      Producers.exit();
      if (!staged) {
        unclaim(batch, slot, forGood);
      }
    }
  }

  /** This job prepares no more in this pass. */
  private void fails(Throwable cause) {
    failed = true;
    if (!(cause instanceof NotPreparedException)) {
      stream.failed(cause);
    }
  }

  private PreparedBatch prepared(BatchSource source, int batch) throws Exception {
    long span = Spans.enter(SpanKind.PRODUCER, null);
    try {
      return source.prepare(batch, pass.order().items(batch));
    } finally {
      Spans.exit(span, null);
    }
  }

  private void unclaim(int batch, int slot, boolean forGood) {
    if (stream.gate().enter()) {
      try {
        buffer.unclaim(pass, batch, forGood);
        buffer.giveBack(slot, pass);
      } finally {
        stream.gate().exit();
      }
    }
  }

  private boolean stage(PreparedBatch prepared, int batch, int slot) {
    long bytes = prepared.bytes();
    buffer.size(bytes);
    if (slot >= buffer.slots() || bytes > buffer.slotBytes()) {
      stream.cannotStage(bytes, buffer.slotBytes(), buffer.slots());
      return false;
    }
    ByteBuffer target;
    try {
      target = stream.memory().writable(slot, (int) bytes);
    } catch (IOException e) {
      stream.noMemory(e);
      buffer.giveUp(slot, pass);
      return false;
    }
    prepared.writeTo(target);
    if (buffer.publish(pass, batch, slot, (int) bytes)) {
      counters.prepared.increment();
      wake(takers);
    } else {
      counters.tooLate.increment();
    }
    return true;
  }

  // ---- using

  /** What becomes of a slot that this job holds. */
  private interface Holding<T, E extends Exception> {
    @Nullable T of(int slot) throws E;
  }

  @Override
  public @Nullable StagedBatch take(int batch) {
    return held(batch, slot -> stream.holds().batch(slot));
  }

  @Override
  public <T> @Nullable T use(int batch, BatchReader<T> reader) throws IOException {
    return held(batch, slot -> stream.holds().read(slot, reader));
  }

  private <T, E extends Exception> @Nullable T held(int batch, Holding<T, E> holding) throws E {
    if (ended || batch < 0 || batch >= pass.order().batches()) {
      return null;
    }
    long began = clock.nanos();
    @Nullable T staged = null;
    Reason reason = Reason.NOBODY;
    takers.add(Thread.currentThread());
    try {
      int slot = await(batch, began);
      takers.remove(Thread.currentThread());
      switch (slot) {
        case StagingBuffer.NOBODY -> reason = Reason.NOBODY;
        case StagingBuffer.NOT_STAGED -> reason = Reason.NOT_STAGED;
        case StagingBuffer.LOST -> reason = Reason.LOST;
        case StagingBuffer.NOT_NOW -> reason = Reason.LATE;
        default -> {
          staged = inside(slot, holding);
          reason = Reason.LOST;
        }
      }
    } finally {
      takers.remove(Thread.currentThread());
      used(batch);
      stream.blocked(false);
      counters.waitNanos.add(clock.nanos() - began);
    }
    if (staged == null) {
      counters.alone(reason);
    }
    return staged;
  }

  /** Inside the gate: as long as the bytes are read the job has not left. */
  private <T, E extends Exception> @Nullable T inside(int slot, Holding<T, E> holding) throws E {
    if (!stream.gate().enter()) {
      return null;
    }
    try {
      return holding.of(slot);
    } finally {
      stream.gate().exit();
    }
  }

  /** The slot of the batch, held; else why not, NOT_NOW if there is no point in waiting longer. */
  private int await(int batch, long began) {
    long pause = FIRST_PAUSE_NANOS;
    long claim = -1;
    long progress = -1;
    long claimedAt = began;
    long progressAt = began;
    while (!ended) {
      int slot = attempt(batch);
      if (slot != StagingBuffer.NOT_NOW) {
        return slot;
      }
      long now = clock.nanos();
      long claimNow = buffer.claimWord(pass, batch);
      if (claimNow != claim) {
        claim = claimNow;
        claimedAt = now;
      }
      long progressNow = buffer.members().progress() + claimNow;
      if (progressNow != progress) {
        progress = progressNow;
        progressAt = now;
      }
      long patience = patience();
      long starved = starvedSince;
      boolean claimed = StagingBuffer.isClaimed(pass, claimNow);
      if ((claimed && now - claimedAt > patience)
          || (!claimed && starved != 0 && now - starved > patience)
          || now - progressAt > patience + bounds.lease().toNanos()) {
        return StagingBuffer.NOT_NOW;
      }
      if (now - began > bounds.blocked().toNanos()) {
        stream.blocked(true);
      }
      clock.pause(pause);
      pause = longer(pause);
    }
    return StagingBuffer.NOBODY;
  }

  /** The pause after one of this length. */
  private long longer(long pause) {
    long shortest = stream.shortestPreparation();
    long last = shortest == Long.MAX_VALUE ? 0 : shortest / PAUSES_IN_A_BATCH;
    return Math.min(Math.max(LAST_PAUSE_NANOS, Math.min(LONGEST_PAUSE_NANOS, last)), pause * 2);
  }

  /** Ends the pauses of this job's own threads; looking once too often does no harm. */
  private static void wake(Set<Thread> threads) {
    threads.forEach(LockSupport::unpark);
  }

  private int attempt(int batch) {
    if (!stream.gate().enter()) {
      return StagingBuffer.NOBODY;
    }
    try {
      return buffer.tryTake(pass, batch);
    } finally {
      stream.gate().exit();
    }
  }

  private long patience() {
    return Math.max(bounds.patience().toNanos(), PATIENCE_IN_BATCHES * stream.longestPreparation());
  }

  private void used(int batch) {
    if (stream.gate().enter()) {
      try {
        synchronized (taken) {
          long updates = stream.updates();
          if (!taken.isEmpty()) {
            counters.updates.add(updates - updatesBefore);
          }
          updatesBefore = updates;
          taken.set(batch);
          if (!shared && buffer.isShared(pass)) {
            shared = true;
            counters.sharedPasses.increment(); // Now: a loop that is left does not end its pass.
          }
          if (!left.get()) {
            buffer.advance(pass, taken.nextClearBit(0));
          }
        }
      } finally {
        stream.gate().exit();
      }
    }
  }

  /** Prepares nothing more; false if a thread does not come out of the program's code in time. */
  boolean stop(long nanos) {
    ended = true;
    wake(producers);
    long pause = LAST_PAUSE_NANOS / 4;
    // Pauses are counted, not time, which passes while the whole job is stopped, too.
    for (long left = nanos; workers.get() > 0; left -= pause) {
      if (left <= 0) {
        return false;
      }
      clock.pause(pause);
    }
    return true;
  }

  /** Whether another job took part while this one took batches. */
  boolean wasShared() {
    return shared;
  }

  @Override
  public void end() {
    if (!stop(Math.max(bounds.lease().toNanos(), patience()))) {
      stream.stuck();
    }
    synchronized (taken) {
      if (!left.getAndSet(true) && stream.gate().enter()) {
        try {
          buffer.leave(pass);
        } finally {
          stream.gate().exit();
        }
      }
    }
    stream.ended(this);
  }
}
