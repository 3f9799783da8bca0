package io.coordl.pipeline;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.Spans;
import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.BatchReader;
import io.coordl.coordination.BatchSource;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.NotPreparedException;
import io.coordl.coordination.PreparedBatch;
import io.coordl.coordination.SharedEpoch;
import io.coordl.host.Uninterrupted;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of one pipeline of this job, which other jobs of the group may share. The library's
 * adapter begins the epoch at the first batch, and then requests each batch here. If it gets none,
 * the program's own code prepares the batch. Refers to the program's objects only through its
 * {@link LibraryEpoch}. Thread-safe.
 */
public final class CoordinatedEpoch {
  private static final long CHECK_MILLIS = 50;

  /** How long the program waits for the agent's thread to leave the program's code. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Set on an agent thread that runs the program's code. That code may end epochs. */
  private static final ThreadLocal<Boolean> PREPARING = ThreadLocal.withInitial(() -> false);

  private final EpochCoordinator coordinator;
  final LibraryEpoch pipeline;
  private final ReentrantLock oneThread;
  private final AtomicInteger used = new AtomicInteger();
  private boolean decided;
  private volatile @Nullable BatchOrder order;
  private volatile @Nullable SharedEpoch shared;
  private volatile boolean ended;

  public CoordinatedEpoch(EpochCoordinator coordinator, LibraryEpoch pipeline) {
    this(coordinator, pipeline, new ReentrantLock());
  }

  /**
   * Creates an epoch that has not begun.
   *
   * @param oneThread held by the thread that runs the program's code, if only one may do so at a
   *     time
   */
  public CoordinatedEpoch(
      EpochCoordinator coordinator, LibraryEpoch pipeline, ReentrantLock oneThread) {
    this.coordinator = coordinator;
    this.pipeline = pipeline;
    this.oneThread = oneThread;
  }

  /** Whether this is an agent thread that runs the program's code. */
  public static boolean isPreparing() {
    return PREPARING.get();
  }

  // ---- start

  /**
   * Begins the epoch unless it has begun or cannot be shared; may wait for other jobs.
   *
   * @param owner takes the batches; the epoch ends when this object is garbage-collected
   * @return whether other jobs may share the epoch
   */
  public boolean begin(Object owner) {
    synchronized (this) {
      if (!decided) {
        decided = true;
        try {
          share(owner);
        } catch (CannotShareException e) {
          leave(e);
        }
      }
    }
    if (ended) {
      end();
    }
    return shared != null;
  }

  /**
   * Logs why this epoch, or a batch of it, is left to the library. If the epoch is not shared yet,
   * it will not be.
   */
  public synchronized void leave(CannotShareException reason) {
    decided = true;
    coordinator.leave(reason);
  }

  /**
   * Returns the samples of a batch in the adopted order, or in this job's own if none was adopted.
   * No order is adopted after this call.
   */
  public synchronized int[] samples(int batch) {
    decided = true;
    BatchOrder followed = order;
    return (followed == null ? pipeline.order() : followed).items(batch);
  }

  private void share(Object owner) throws CannotShareException {
    Fingerprint fingerprint = pipeline.fingerprint();
    BatchOrder own = pipeline.order();
    SharedEpoch epoch = coordinator.group.begin(fingerprint, own);
    if (epoch == null) {
      return;
    }
    if (!haveSameSizes(own, epoch.order()) || !pipeline.follow(epoch.order())) {
      epoch.end();
      return;
    }
    order = epoch.order();
    shared = epoch;
    coordinator.begun(this, owner);
    epoch.prepareWith(source(), pipeline.threads());
  }

  /** Returns a source that runs the program's own code on agent threads. */
  private BatchSource source() {
    ReentrantLock alone = lockOfOne();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return (batch, samples) -> {
      while (alone != null && !alone.tryLock(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
        refuseIfEnded();
      }
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader); // For class look-ups by the program's code.
      PREPARING.set(true);
      try {
        refuseIfEnded();
        return prepare(batch, samples);
      } finally {
        PREPARING.set(false);
        thread.setContextClassLoader(before);
        if (alone != null) {
          alone.unlock();
        }
      }
    };
  }

  private @Nullable ReentrantLock lockOfOne() {
    return pipeline.threads() == 1 ? oneThread : null;
  }

  private static boolean haveSameSizes(BatchOrder own, BatchOrder adopted) {
    return adopted.batches() == own.batches()
        && IntStream.range(0, own.batches()).allMatch(i -> adopted.end(i) == own.end(i));
  }

  private void refuseIfEnded() throws NotPreparedException {
    if (ended) {
      throw new NotPreparedException("the epoch has ended");
    }
  }

  private PreparedBatch prepare(int batch, int[] samples) throws Exception {
    try {
      return pipeline.prepare(batch, samples);
    } catch (CannotShareException e) {
      leave(e);
      throw new NotPreparedException(e);
    }
  }

  // ---- batches

  /**
   * Returns the batch that the group has prepared; {@code reader} copies it from the bytes.
   *
   * @return null if this job must prepare the batch
   */
  public <T> @Nullable T stagedBatch(int batch, BatchReader<T> reader) throws IOException {
    SharedEpoch epoch = shared;
    return epoch == null ? null : epoch.use(batch, reader);
  }

  /**
   * Prepares a batch on this thread. If only one thread may run the program's code, agent threads
   * wait.
   *
   * @throws Exception if the program's code throws, or if another thread hangs in it
   */
  public <T> T prepareAlone(Callable<T> make) throws Exception {
    ReentrantLock alone = lockOfOne();
    if (alone != null && !lock(alone)) {
      throw new IllegalStateException("another thread hangs in the pipeline");
    }
    try {
      return make.call();
    } finally {
      if (alone != null) {
        alone.unlock();
      }
    }
  }

  /**
   * Locks. Returns false, and ends the epoch, if the agent's thread does not leave the program's
   * code, for example because it waits for a lock that this thread holds.
   */
  private boolean lock(ReentrantLock alone) {
    boolean got =
        Uninterrupted.await(PATIENCE_NANOS, nanos -> alone.tryLock(nanos, TimeUnit.NANOSECONDS));
    if (!got) {
      end();
    }
    return got;
  }

  /** Counts a batch that the program has received; after the last one the epoch ends. */
  public void used() {
    BatchOrder followed = order;
    if (followed != null && used.incrementAndGet() == followed.batches()) {
      end();
    }
  }

  /**
   * Returns the interception of the library's call for a batch.
   *
   * @param span ends with the call
   * @param batch the result; null if the program prepares the batch. If only one thread may run the
   *     program's code, agent threads then wait until the call ends
   */
  public InterceptedCall call(long span, @Nullable Object batch) {
    return new BatchCall(span, batch);
  }

  public boolean isOver() {
    return ended;
  }

  /**
   * Ends the epoch: it delivers no more batches. Waits until the epoch's agent threads have left
   * the program's code, unless one hangs there. If called by the program's code on an agent thread,
   * does not wait.
   */
  public void end() {
    ended = true;
    SharedEpoch epoch = shared;
    if (epoch != null && !PREPARING.get()) {
      coordinator.begun.remove(this);
      epoch.end();
      pipeline.ended();
    }
  }

  private final class BatchCall extends InterceptedCall {
    private final long span;
    private final @Nullable ReentrantLock locked;

    BatchCall(long span, @Nullable Object staged) {
      super(staged);
      this.span = span;
      ReentrantLock alone = staged == null && shared != null ? lockOfOne() : null;
      this.locked = alone != null && lock(alone) ? alone : null;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      Object batch = super.result(own);
      finish(batch);
      return batch;
    }

    @Override
    public void failed() {
      finish(null);
    }

    private void finish(@Nullable Object batch) {
      if (locked != null) {
        locked.unlock();
      }
      Spans.exit(span, batch);
      used();
    }
  }
}
