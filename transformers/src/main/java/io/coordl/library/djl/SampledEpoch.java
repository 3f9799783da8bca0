package io.coordl.library.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.NotPreparedException;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.CoordinatedEpoch;
import io.coordl.pipeline.LibraryEpoch;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of this job over a data set, from its sampler's order to its last batch. Refers to the
 * iterable and the data set weakly. Thread-safe.
 */
final class SampledEpoch implements LibraryEpoch {
  private final CoordinatedBatches interceptor;
  private final IterableFields fields;
  private final WeakReference<RandomAccessDataset> dataset;
  private final CoordinatedEpoch epoch;
  private final String sampler;
  private volatile BatchOrder order = BatchOrder.evenly(new int[0], 1);
  private volatile WeakReference<DataIterable> iterable = new WeakReference<>(null);
  private volatile WeakReference<NDManager> manager = new WeakReference<>(null);
  private volatile int threads;

  SampledEpoch(CoordinatedBatches interceptor, RandomAccessDataset dataset, Sampler sampler) {
    this.interceptor = interceptor;
    this.fields = interceptor.fields;
    this.dataset = new WeakReference<>(dataset);
    this.epoch = new CoordinatedEpoch(interceptor.epochs, this, interceptor.oneThread);
    String described = "";
    try {
      described = Description.of("sampler", sampler);
    } catch (CannotShareException e) {
      epoch.leave(e);
    }
    this.sampler = described;
  }

  /**
   * Returns the batches of this epoch. The group may replace their order with one of the same batch
   * sizes.
   */
  List<List<Long>> over(BatchOrder own) {
    order = own;
    List<List<Long>> batches = new ArrayList<>(own.batches());
    for (int i = 0, start = 0; i < own.batches(); i++) {
      batches.add(new Indices(i, own.end(i) - start));
      start = own.end(i);
    }
    return batches;
  }

  void refuse(String reason) {
    epoch.leave(new CannotShareException(reason));
  }

  /**
   * The indices of one batch, as a sampler would yield them. Their number is known from the start;
   * the indices are fixed when the first batch of the epoch is fetched, or when the program reads
   * them. Unmodifiable; thread-safe.
   */
  final class Indices extends AbstractList<Long> implements RandomAccess {
    private final int batch;
    private final int size;
    private final AtomicBoolean fetched = new AtomicBoolean();
    private volatile int @Nullable [] items;

    Indices(int batch, int size) {
      this.batch = batch;
      this.size = size;
    }

    /**
     * Marks the batch as fetched; returns true only for the first call. Each staged batch is used
     * once; a second fetch runs the program's own code.
     */
    boolean tryMarkFetched() {
      return fetched.compareAndSet(false, true);
    }

    InterceptedCall fetch(DataIterable of, int progress) {
      long span = Spans.enter(SpanKind.BATCH, of);
      Batch made = null;
      try {
        iterable = new WeakReference<>(of);
        NDManager own = fields.manager.require(of);
        manager = new WeakReference<>(own);
        threads = allowed(fields.executor.get(of));
        if (interceptor.pinned != null && BatchFrame.copiesToGpu(own)) {
          interceptor.pinned.copySlots();
        }
        if (epoch.begin(of)) {
          made =
              epoch.stagedBatch(
                  batch, staged -> make(fields.frame(of, this, progress), own, staged));
        }
      } catch (Throwable t) {
        Bridge.fault("a staged batch", t); // The program's own fetch prepares the batch.
      }
      return epoch.call(span, made);
    }

    private Batch make(BatchFrame frame, NDManager own, ByteBuffer staged) throws IOException {
      int bytes = staged.remaining();
      long start = System.nanoTime();
      Batch batch = frame.make(own.newSubManager(), staged);
      if (interceptor.pinned != null) {
        interceptor.pinned.copied(bytes, System.nanoTime() - start);
      }
      return batch;
    }

    @Override
    public Long get(int index) {
      int[] known = items;
      if (known == null) {
        known = epoch.samples(batch);
        items = known;
      }
      return (long) known[index];
    }

    @Override
    public int size() {
      return size;
    }
  }

  @Override
  public Object dataset() {
    return fields.dataset.require(iterable());
  }

  @Override
  public Object settings() {
    return sampler;
  }

  @Override
  public Fingerprint fingerprint() throws CannotShareException {
    return PipelineParts.of(fields, iterable(), sampler, order);
  }

  private DataIterable iterable() {
    DataIterable known = iterable.get();
    if (known == null) {
      throw new IllegalStateException("the program has dropped the iterable");
    }
    return known;
  }

  @Override
  public BatchOrder order() {
    return order;
  }

  @Override
  public int threads() {
    return threads;
  }

  /**
   * Returns how many threads may call the program's code at the same time, given the iterable's
   * executor.
   */
  private int allowed(@Nullable ExecutorService executor) {
    int most = 1;
    if (executor instanceof ThreadPoolExecutor pool) {
      most = pool.getMaximumPoolSize();
    } else if (executor instanceof ForkJoinPool pool) {
      most = pool.getParallelism();
    }
    if (most <= 1) {
      return 1; // Without several threads of its own, the program's code need not be thread-safe.
    }
    int wanted = Math.max(interceptor.threads, most);
    return Math.max(1, Math.min(wanted, Runtime.getRuntime().availableProcessors()));
  }

  @Override
  public PreparedBatch prepare(int batch, int[] samples) throws Exception {
    DataIterable data = iterable.get();
    if (data == null) {
      throw new NotPreparedException("the epoch has ended");
    }
    List<Long> plain = Arrays.stream(samples).asLongStream().boxed().toList();
    Batch made;
    try {
      made = fields.fetch(data, plain, order.end(batch));
    } catch (Exception e) {
      throw new NotPreparedException(e);
    }
    return BatchArrays.of(made, samples.length);
  }

  /**
   * Whether the part is the epoch's data set, the manager that the iterable's arrays belong to, or
   * an ancestor of that manager.
   */
  @Override
  public boolean uses(Object part) {
    if (!(part instanceof NDManager)) {
      return dataset.refersTo((RandomAccessDataset) part);
    }
    NDManager ancestor = manager.get();
    while (ancestor != null && ancestor != part) {
      NDManager parent = ancestor.getParentManager();
      ancestor = parent == ancestor ? null : parent;
    }
    return ancestor != null;
  }
}
