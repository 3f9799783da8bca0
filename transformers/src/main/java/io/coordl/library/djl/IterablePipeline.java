package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.translate.StackBatchifier;
import io.coordl.coordination.NotPreparedException;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.PreparedSamples;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DataIterable}, whose stages are its data set and each transform of its pipeline.
 *
 * <p>The agent prefetches batches through an iterable and a manager of its own, because the program
 * may close the program's manager at any time. When the program gets a batch, its arrays move to a
 * child of the program's manager.
 *
 * @param tables known tables, whose samples may be cached; null if whole batches are prefetched,
 *     which also depend on the label transforms
 */
record IterablePipeline(DataIterable iterable, IterableFields fields, @Nullable Tables tables)
    implements LibraryEpoch {
  /**
   * Settings that a data set reads outside its own fields, and that the program can change at any
   * time.
   *
   * @param device device of its arrays
   * @param columns columns of a table
   * @param defaults settings of the JDK, such as the locale
   */
  private record Surroundings(
      @Nullable ImageFactory factory, Device device, List<Object> columns, List<Object> defaults) {}

  /**
   * The settings when a batch was started.
   *
   * @param stacked whether samples are only stacked after the last transform
   */
  private record Fixed(
      Surroundings around, FixedPipeline data, FixedPipeline labels, boolean stacked) {}

  @Override
  public RandomAccessDataset dataset() {
    return fields.dataset.require(iterable);
  }

  private Surroundings around() {
    return new Surroundings(
        ImageFactory.getInstance(),
        fields.manager.require(iterable).getDevice(),
        Tables.columns(dataset()),
        LibraryEpoch.defaults());
  }

  /** Returns the label transforms, if they matter. */
  private @Nullable Pipeline labels() {
    return tables == null ? fields.targetPipeline.get(iterable) : null;
  }

  @Override
  public Object settings() {
    return new Fixed(
        around(),
        fields.copies.copy(fields.pipeline.get(iterable)),
        fields.copies.copy(labels()),
        isOnlyStacked());
  }

  @Override
  public boolean isCurrent(Object settings) {
    Fixed fixed = (Fixed) settings;
    return fixed.around.equals(around())
        && fixed.stacked == isOnlyStacked()
        && fixed.data.isOf(fields.pipeline.get(iterable))
        && fixed.labels.isOf(labels());
  }

  // ---- prefetched batches

  @Override
  public @Nullable PeekingIterator<?> upcoming() {
    return fields.sample.get(iterable) instanceof PeekingIterator<?> order ? order : null;
  }

  @Override
  public int count(Object samples) {
    return ((List<?>) samples).size();
  }

  @Override
  public boolean haveSameParts(Object settings, Object other) {
    Fixed one = (Fixed) settings;
    Fixed two = (Fixed) other;
    return one.around.equals(two.around)
        && one.data.hasSameTransforms(two.data)
        && one.labels.hasSameTransforms(two.labels);
  }

  @Override
  @SuppressWarnings("unchecked") // The type that a DataIterable's sampler yields.
  public Batch prefetch(Object settings, Object samples, int position) throws Exception {
    Fixed fixed = (Fixed) settings;
    NDManager programManager = fields.manager.require(iterable);
    NDManager own = programManager.getEngine().newBaseManager(programManager.getDevice());
    try {
      DataIterable shadow =
          fields.like(iterable, dataset(), own, fixed.data.copy(), fixed.labels.copy());
      Batch batch = fields.fetch(shadow, (List<Long>) samples, position);
      own.setName(batch.getManager().getName());
      fields.batchManager.set(batch, own); // Closed with the batch.
      return batch;
    } catch (Exception | Error e) {
      own.close();
      throw new NotPreparedException(e);
    }
  }

  @Override
  public boolean handOver(Object batch) {
    Batch ready = (Batch) batch;
    NDManager own = ready.getManager();
    try {
      NDManager target = newBatchManager();
      target.setName(own.getName());
      ready.getData().attach(target);
      ready.getLabels().attach(target);
      fields.batchManager.set(ready, target);
    } catch (RuntimeException e) {
      return false; // The program has closed its manager; its own call reports that.
    }
    own.close();
    return true;
  }

  /** Creates a manager for one batch, as the library does. */
  NDManager newBatchManager() {
    NDManager manager = fields.manager.require(iterable).newSubManager();
    manager.setName("dataIter fetch");
    return manager;
  }

  // ---- cached samples

  @Override
  public long size() {
    return dataset().size();
  }

  /** Batchifiers run after the last sample of a batch, but an executor prepares several at once. */
  @Override
  public boolean runsOtherCode(Object settings) {
    return !((Fixed) settings).stacked && fields.executor.get(iterable) != null;
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Fixed fixed = (Fixed) settings;
    List<List<@Nullable Object>> stages = new ArrayList<>();
    List<@Nullable Object> first = new ArrayList<>();
    stages.add(first);
    first.add(dataset());
    first.add(fixed.around.factory);
    stages.addAll(fixed.data.objects());
    if (tables == null) {
      first.add(fields.dataBatchifier.get(iterable));
      first.add(fields.labelBatchifier.get(iterable));
      stages.addAll(fixed.labels.objects());
    }
    return stages;
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    Fixed fixed = (Fixed) settings;
    // Samples that are only stacked may be cached even if they could not be returned one by one.
    String to = fixed.stacked && stage == fixed.data.size() ? "\nto be stacked" : "";
    if (stage > 0) {
      return Description.ofCodeInput("transforms", fixed.data.part(stage - 1)) + to;
    }
    NDManager manager = fields.manager.require(iterable);
    String table = tables == null ? null : tables.describe(dataset());
    return String.join(
        "\n",
        "DJL " + Engine.getDjlVersion(),
        manager.getEngine().getEngineName() + " " + manager.getEngine().getVersion(),
        manager.getDevice().getDeviceType(),
        "JDK " + System.getProperty("java.runtime.version"),
        // The order of summation may depend on the number of threads.
        "threads " + System.getenv("OMP_NUM_THREADS") + " " + System.getenv("MKL_NUM_THREADS"),
        "of DJL " + System.getProperty("ai.djl.pytorch.num_threads"),
        fixed.around.defaults.toString(),
        decoder(fixed.around.factory),
        (table == null ? Description.ofCodeInput("data set", dataset()) : table) + to);
  }

  @Override
  public long stamp() {
    return tables == null ? 0 : tables.stamp(dataset());
  }

  private static String decoder(@Nullable ImageFactory factory) throws CannotShareException {
    try {
      return factory == null ? "none" : new Forms(factory.getClass()).of(null) + "";
    } catch (IOException e) {
      throw new CannotShareException("images of " + factory.getClass().getName());
    }
  }

  @Override
  public String describe(String name, @Nullable Object value) throws CannotShareException {
    return Description.ofCodeInput(name, value);
  }

  /** Whether the samples that {@link #over} fetches only have to be stacked. */
  boolean isStacked(PreparedSamples.Plan plan) {
    Fixed fixed = (Fixed) plan.settings();
    return plan.kept() == 1 + fixed.data.size() && fixed.stacked && !appliesAll(plan);
  }

  /** Whether samples are cached before the first transform. */
  private static boolean appliesAll(PreparedSamples.Plan plan) {
    return plan.keepsFirst() && ((Fixed) plan.settings()).data.size() > 0;
  }

  /** Whether its arrays are in main memory. */
  boolean isOnHost() {
    return Device.cpu().equals(fields.manager.require(iterable).getDevice());
  }

  boolean isOnlyStacked() {
    Pipeline labels = fields.targetPipeline.get(iterable);
    return FixedPipeline.Copies.isPlain(labels)
        && (labels == null || fields.copies.size(labels) == 0)
        && isStack(fields.dataBatchifier.get(iterable))
        && isStack(fields.labelBatchifier.get(iterable));
  }

  private static boolean isStack(@Nullable Batchifier batchifier) {
    return batchifier != null && batchifier.getClass() == StackBatchifier.class;
  }

  /** Stacks samples into a batch; returns null if their shapes differ. */
  @Nullable Batch stack(
      List<PreparedSamples.Kept> samples, SampleStack stack, List<Long> indices, int progress)
      throws IOException {
    BatchLayout layout = SampleStack.layout(samples);
    if (layout == null) {
      return null;
    }
    BatchFrame frame = fields.frame(iterable, indices, progress);
    NDManager manager = newBatchManager();
    try {
      if (EngineMemory.isOf(manager)) {
        NDList data = stack.arrays(manager, layout, samples, BatchArrays.DATA);
        NDList labels = stack.arrays(manager, layout, samples, BatchArrays.LABELS);
        if (data != null && labels != null) {
          return frame.onDevice(manager, data, labels);
        }
      }
      ByteBuffer bytes = stack.bytes(layout, samples);
      try {
        return frame.make(manager, bytes);
      } finally {
        stack.free(bytes, BatchFrame.copiesToGpu(manager));
      }
    } catch (IOException | RuntimeException | Error e) {
      manager.close();
      throw e;
    } catch (Exception e) {
      manager.close();
      throw new IOException(e); // A thread hangs.
    }
  }

  /**
   * Creates an iterable that fetches like the program's, but uses cached samples. If these are
   * cached before the first transform, it applies all transforms, as {@link AugmentedBatches} may
   * do for a whole batch.
   */
  DataIterable over(PreparedSamples samples, PreparedSamples.Plan plan) {
    FixedPipeline fixed = ((Fixed) plan.settings()).data;
    Pipeline own = fields.pipeline.get(iterable);
    boolean isFirst = appliesAll(plan);
    int kept = isFirst ? 0 : plan.kept() - 1;
    List<Pipeline> transforms = IntStream.range(0, kept).mapToObj(fixed::part).toList();
    return fields.like(
        iterable,
        isFirst
            ? PreparedDataset.ofFirst(dataset(), samples, plan)
            : PreparedDataset.ofAll(dataset(), samples, plan, transforms, isStacked(plan)),
        fields.manager.require(iterable),
        own == null || kept >= fixed.size() ? null : fields.copies.part(own, kept, fixed.size()),
        fields.targetPipeline.get(iterable));
  }
}
