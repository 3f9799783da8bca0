package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.Pipeline;
import ai.djl.util.Progress;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CachedDataset;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SampleMaker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A data set that returns the samples of the program's own data set, and caches them. Several
 * threads may get samples in main memory; those of a device belong to one batch, which one thread
 * fetches.
 */
final class PreparedDataset extends RandomAccessDataset implements CachedDataset {
  private final RandomAccessDataset own;
  private final PreparedSamples samples;
  private final PreparedSamples.Plan plan;

  /** A pipeline of one transform for each stage after the first. */
  private final List<Pipeline> transforms;

  /** Whether only stacking follows the last transform. */
  private final boolean stacked;

  /** Whether samples are returned as the program's data set returns them. */
  private final boolean isFirst;

  /** Nanoseconds spent getting samples. */
  private final AtomicLong nanos = new AtomicLong();

  /** Number of samples requested. */
  private final AtomicInteger places = new AtomicInteger();

  private final DeviceSamples unread = new DeviceSamples();

  /** Samples prepared by {@link #make} and not requested yet, by index. */
  private final Map<Long, Record> ready = new HashMap<>();

  private PreparedDataset(
      RandomAccessDataset own,
      PreparedSamples samples,
      PreparedSamples.Plan plan,
      List<Pipeline> transforms,
      boolean stacked,
      boolean isFirst) {
    super(new NoBuilder().setSampling(1, false));
    this.own = own;
    this.samples = samples;
    this.plan = plan;
    this.transforms = transforms;
    this.stacked = stacked;
    this.isFirst = isFirst;
  }

  /** Returns a data set of samples after all stages of the plan. */
  static PreparedDataset ofAll(
      RandomAccessDataset own,
      PreparedSamples samples,
      PreparedSamples.Plan plan,
      List<Pipeline> transforms,
      boolean stacked) {
    return new PreparedDataset(own, samples, plan, transforms, stacked, false);
  }

  /** Returns a data set of samples before the first transform. */
  static PreparedDataset ofFirst(
      RandomAccessDataset own, PreparedSamples samples, PreparedSamples.Plan plan) {
    return new PreparedDataset(own, samples, plan, List.of(), false, true);
  }

  @Override
  public Object dataset() {
    return own;
  }

  @Override
  public @Nullable RandomAccessDataset own() {
    return isFirst ? own : null;
  }

  /**
   * Prepares these samples, which are not cached yet; the next requests return them. Exceptions of
   * the program's code propagate.
   *
   * @param scratch manager of the samples; the caller closes it after the last request
   */
  void make(NDManager scratch, List<Long> indices) throws IOException {
    for (Long index : indices) {
      ready.put(index, get(scratch, index));
    }
  }

  @Override
  public Record get(NDManager manager, long index) throws IOException {
    Record made = ready.remove(index);
    if (made != null) {
      made.getData().attach(manager);
      made.getLabels().attach(manager);
      return made;
    }
    long start = System.nanoTime();
    try {
      Maker maker = new Maker(manager, index, places.getAndIncrement());
      Sample sample =
          Objects.requireNonNull(
              isFirst ? samples.first(plan, index, maker) : samples.sample(plan, index, maker));
      return new Record(sample.data, sample.labels);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw SampledBatches.<RuntimeException>undeclared(
          e); // Other JVM languages need not declare it.
    } finally {
      nanos.addAndGet(System.nanoTime() - start);
    }
  }

  /** Caches the samples prepared on a device, once their batch is complete. */
  void keep(Batch batch) throws IOException {
    unread.keep(batch.getData(), batch.getLabels(), places.get());
  }

  /** Returns the nanoseconds spent getting samples so far. */
  long nanos() {
    return nanos.get();
  }

  @Override
  protected long availableSize() {
    return own.size();
  }

  @Override
  public void prepare(Progress progress) {
    // The program's own data set is already prepared.
  }

  private record Sample(NDList data, NDList labels) {}

  /** Prepares one sample, whose arrays belong to {@code manager}. */
  private final class Maker implements SampleMaker<Sample> {
    private final NDManager manager;
    private final long index;
    private final int place;
    private int transformed;

    Maker(NDManager manager, long index, int place) {
      this.manager = manager;
      this.index = index;
      this.place = place;
    }

    @Override
    public Sample get() throws IOException {
      Record record = own.get(manager, index);
      return new Sample(record.getData(), record.getLabels());
    }

    @Override
    public Sample transform(int stage, Sample sample) {
      transformed = stage;
      return new Sample(transforms.get(stage - 1).transform(sample.data), sample.labels);
    }

    private boolean isOnHost() {
      return Device.cpu().equals(manager.getDevice());
    }

    @Override
    public boolean readsValuesLater() {
      return !isOnHost();
    }

    @Override
    public void readLater(PreparedBatch one, Keeping keeping) {
      unread.add(place, ((BatchArrays) one).layout(), keeping);
    }

    @Override
    public @Nullable PreparedBatch bytes(Sample sample, List<BatchLayout.Array> files) {
      boolean last = stacked && transformed == transforms.size();
      if (!(last || isOnHost())
          || !areArrays(sample.data, last)
          || !areArrays(sample.labels, last)
          || (!last && BatchArrays.overlap(sample.data, sample.labels))) {
        return null;
      }
      try {
        return BatchArrays.view(sample.data, sample.labels, files);
      } catch (CannotShareException e) {
        return null;
      }
    }

    /**
     * Whether arrays can be recreated from their values.
     *
     * @param last whether only stacking follows this stage
     */
    private boolean areArrays(NDList list, boolean last) {
      if (list.getClass() != NDList.class) {
        return false; // The batchifier may use its other attributes.
      }
      for (NDArray array : list) {
        // Querying a text array would crash the JVM.
        if (array.getDataType() == DataType.STRING
            || !(Strides.areDense(array) || (last && Strides.areStackedDense(array)))
            || array.hasGradient()
            || !array.getDevice().equals(manager.getDevice())
            || array.getShape().isLayoutKnown()
            || array.size() == 0) {
          return false;
        }
      }
      return true;
    }

    @Override
    public Sample read(BatchLayout layout, ByteBuffer bytes) {
      return new Sample(
          BatchFrame.arrays(manager, layout, bytes, BatchArrays.DATA),
          BatchFrame.arrays(manager, layout, bytes, BatchArrays.LABELS));
    }

    /** False for samples that are only stacked: the whole batch is probed instead. */
    @Override
    public boolean isProbed() {
      return !stacked;
    }

    @Override
    public void probe(BatchLayout layout, ByteBuffer bytes) {
      Sample sample = read(layout, bytes);
      sample.data.close();
      sample.labels.close();
    }
  }

  private static final class NoBuilder extends BaseBuilder<NoBuilder> {
    @Override
    protected NoBuilder self() {
      return this;
    }
  }
}
