package io.coordl.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.staging.BatchOrder;
import io.coordl.staging.BatchSource;
import io.coordl.staging.CoordinatedPass;
import io.coordl.staging.Fingerprint;
import io.coordl.staging.NotPreparedException;
import io.coordl.staging.PreparedBatch;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One pass of this job over a data set: from its sampler's order to the last batch. Holds neither
 * the iterable nor the data set. Thread-safe.
 */
final class Pass {
  private static final long LOOK_MILLIS = 50;

  /** Of a program that waits for the agent's thread to come out of its code. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Set on a thread of the agent that runs the program's code, which may close managers. */
  private static final ThreadLocal<Boolean> PREPARING = ThreadLocal.withInitial(() -> false);

  private final Passes passes;
  private final WeakReference<RandomAccessDataset> dataset;
  private final String sampler;
  private final AtomicInteger fetched = new AtomicInteger();
  private BatchOrder order = BatchOrder.evenly(new int[0], 1);
  private boolean decided;
  private boolean alone;
  private volatile WeakReference<NDManager> manager = new WeakReference<>(null);
  private volatile @Nullable CoordinatedPass shared;
  private volatile boolean ended;

  Pass(Passes passes, RandomAccessDataset dataset, Sampler sampler) {
    this.passes = passes;
    this.dataset = new WeakReference<>(dataset);
    String words = "";
    try {
      words = Description.of("sampler", sampler);
    } catch (CannotShareException e) {
      refuse(e.reason());
    }
    this.sampler = words;
  }

  boolean isOver(RandomAccessDataset other) {
    return dataset.refersTo(other);
  }

  /** Whether the iterable's arrays belong to {@code other}, or to a manager below it. */
  boolean isBelow(NDManager other) {
    for (NDManager m = manager.get(); m != null; m = m.getParentManager()) {
      if (m == other) {
        return true;
      }
      if (m == m.getParentManager()) {
        return false;
      }
    }
    return false;
  }

  /** The batches of this pass, whose order the others may replace by one of the same sizes. */
  synchronized List<List<Long>> over(BatchOrder own) {
    order = own;
    List<List<Long>> batches = new ArrayList<>(own.batches());
    for (int i = 0, start = 0; i < own.batches(); i++) {
      batches.add(new PassIndices(this, i, own.end(i) - start));
      start = own.end(i);
    }
    return batches;
  }

  /** This pass is not to be shared. */
  synchronized void refuse(String reason) {
    decided = true;
    RandomAccessDataset data = dataset.get();
    passes.say(
        "prep=coordinate: a pass over "
            + (data == null ? "data" : data.getClass().getName())
            + " keeps its own pipeline, since "
            + reason
            + ".");
  }

  /** The items of a batch, which are fixed by that. */
  synchronized int[] items(int batch) {
    decided = true;
    return order.items(batch);
  }

  /** The first call for this batch. */
  LibraryCall fetch(DataIterable iterable, PassIndices indices, int progress) {
    long span = Spans.enter(SpanKind.BATCH, iterable);
    Batch batch = null;
    try {
      CoordinatedPass pass = begin(iterable);
      if (pass != null) {
        batch =
            pass.use(
                indices.batch(),
                staged -> StagedArrays.batch(passes.fields, iterable, staged, indices, progress));
      }
    } catch (Throwable t) {
      Bridge.fault("a staged batch", t); // The program's own fetch makes it.
    }
    if (batch == null) {
      return new OwnFetch(span);
    }
    Spans.exit(span, batch);
    wasFetched();
    return new Answered(batch);
  }

  private void wasFetched() {
    if (fetched.incrementAndGet() == batches()) {
      end();
    }
  }

  private synchronized int batches() {
    return order.batches();
  }

  private @Nullable CoordinatedPass begin(DataIterable iterable) {
    synchronized (this) {
      if (!decided) {
        decided = true;
        share(iterable);
      }
    }
    if (ended) {
      end();
    }
    return shared;
  }

  private void share(DataIterable iterable) {
    Fingerprint pipeline;
    try {
      pipeline = PipelineParts.of(passes.fields, iterable, sampler, order);
    } catch (CannotShareException e) {
      refuse(e.reason());
      return;
    }
    CoordinatedPass pass = passes.coordinator.begin(pipeline, order);
    if (pass == null) {
      return;
    }
    if (!isOfSameSizes(pass.order())) {
      pass.end();
      throw new IllegalStateException("the adopted order has batches of other sizes");
    }
    order = pass.order();
    int threads = passes.threads(passes.fields.executor(iterable));
    alone = threads == 1;
    manager = new WeakReference<>(passes.fields.manager(iterable));
    shared = pass;
    passes.begun(this, iterable);
    pass.prepareWith(new Source(iterable, pass.order()), threads);
  }

  private boolean isOfSameSizes(BatchOrder adopted) {
    boolean same = adopted.batches() == order.batches();
    for (int i = 0; same && i < order.batches(); i++) {
      same = adopted.end(i) == order.end(i);
    }
    return same;
  }

  /** Whether this thread is the agent's, and runs the program's code. */
  static boolean isPreparing() {
    return PREPARING.get();
  }

  /** No batch of it is taken any more; waits until the agent's threads have left it. */
  void end() {
    ended = true;
    CoordinatedPass pass = shared;
    if (pass != null && !PREPARING.get()) {
      passes.ended(this);
      pass.end();
    }
  }

  /** The program's own code, on threads of the agent. */
  private final class Source implements BatchSource {
    private final WeakReference<DataIterable> iterable;
    private final BatchOrder order;
    private final boolean alone;
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

    Source(DataIterable iterable, BatchOrder order) {
      this.iterable = new WeakReference<>(iterable);
      this.order = order;
      this.alone = Pass.this.alone;
    }

    private Batch fetch(DataIterable data, int batch, int[] items) throws NotPreparedException {
      try {
        return passes.fields.fetch(data, PassIndices.plain(items), order.end(batch));
      } catch (Exception e) {
        throw new NotPreparedException(e);
      }
    }

    @Override
    public PreparedBatch prepare(int batch, int[] items) throws Exception {
      while (alone && !passes.oneThread.tryLock(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        if (ended) {
          throw new NotPreparedException("the epoch has ended");
        }
      }
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader); // What the program looks up by it, it finds.
      PREPARING.set(true);
      try {
        DataIterable data = iterable.get();
        if (ended || data == null) {
          throw new NotPreparedException("the epoch has ended");
        }
        return BatchArrays.of(fetch(data, batch, items), items.length);
      } catch (CannotShareException e) {
        refuse(e.reason());
        throw new NotPreparedException(e);
      } finally {
        PREPARING.set(false);
        thread.setContextClassLoader(before);
        if (alone) {
          passes.oneThread.unlock();
        }
      }
    }
  }

  /** A batch from the staging buffer. */
  private static final class Answered extends LibraryCall {
    private final Batch batch;

    Answered(Batch batch) {
      this.batch = batch;
    }

    @Override
    public boolean answered() {
      return true;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      return batch;
    }
  }

  /**
   * The program makes the batch itself; meanwhile no thread of the agent does if it has but one.
   */
  private final class OwnFetch extends LibraryCall {
    private final long span;
    private final boolean locked;

    OwnFetch(long span) {
      this.span = span;
      this.locked = shared != null && alone && lock();
    }

    /**
     * False if the agent's thread does not come out, be it that it waits for what this one holds;
     * the pass has ended then. An interrupt neither ends the wait nor is lost.
     */
    private boolean lock() {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      boolean interrupted = false;
      boolean got = false;
      long left;
      while (!got && (left = deadline - System.nanoTime()) > 0) {
        try {
          got = passes.oneThread.tryLock(left, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (!got) {
        end();
      }
      return got;
    }

    @Override
    public boolean answered() {
      return false;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      over(own);
      return own;
    }

    @Override
    public void failed() {
      over(null);
    }

    private void over(@Nullable Object own) {
      if (locked) {
        passes.oneThread.unlock();
      }
      Spans.exit(span, own);
      wasFetched();
    }
  }
}
