package io.coordl.djl;

import ai.djl.engine.Engine;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.translate.StackBatchifier;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SamplePipeline;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The stages of a {@link DataIterable}: its data set, and each transform of its pipeline. */
record StagedIterable(
    DataIterable iterable, IterableFields fields, FixedPipeline.Copies copies, Tables tables)
    implements SamplePipeline {
  private record Fixed(Surroundings around, FixedPipeline pipeline) {}

  @Override
  public RandomAccessDataset dataset() {
    return fields.dataset.require(iterable);
  }

  @Override
  public String name() {
    return dataset().getClass().getName();
  }

  @Override
  public long size() {
    return dataset().size();
  }

  @Override
  public Object settings() {
    return new Fixed(Surroundings.of(iterable, fields), copies.copy(fields.pipeline.get(iterable)));
  }

  @Override
  public boolean isCurrent(Object settings) {
    Fixed fixed = (Fixed) settings;
    return fixed.around.equals(Surroundings.of(iterable, fields))
        && fixed.pipeline.isOf(fields.pipeline.get(iterable), copies);
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Fixed fixed = (Fixed) settings;
    List<List<@Nullable Object>> stages = new ArrayList<>();
    stages.add(Arrays.asList(dataset(), fixed.around.factory()));
    stages.addAll(fixed.pipeline.objects());
    return stages;
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    Fixed fixed = (Fixed) settings;
    if (stage > 0) {
      return Description.ofRead("transforms", fixed.pipeline.stages(stage, copies).get(stage - 1));
    }
    NDManager manager = fields.manager.require(iterable);
    String table = tables.describe(dataset());
    return String.join(
        "\n",
        "DJL " + Engine.getDjlVersion(),
        manager.getEngine().getEngineName() + " " + manager.getEngine().getVersion(),
        manager.getDevice().getDeviceType(),
        "JDK " + System.getProperty("java.runtime.version"),
        // The order of sums may follow the number of threads.
        "threads " + System.getenv("OMP_NUM_THREADS") + " " + System.getenv("MKL_NUM_THREADS"),
        "of DJL " + System.getProperty("ai.djl.pytorch.num_threads"),
        fixed.around.defaults().toString(),
        decoder(fixed.around.factory()),
        table == null ? Description.ofRead("data set", dataset()) : table);
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
    return Description.ofRead(name, value);
  }

  /** Whether nothing is left to do with kept samples but to stack them. */
  boolean isStacked(PreparedSamples.Plan plan) {
    FixedPipeline fixed = ((Fixed) plan.settings()).pipeline;
    Pipeline labels = fields.targetPipeline.get(iterable);
    return plan.kept() == 1 + fixed.size()
        && FixedPipeline.Copies.isPlain(labels)
        && (labels == null || copies.size(labels) == 0)
        && isStack(fields.dataBatchifier.get(iterable))
        && isStack(fields.labelBatchifier.get(iterable));
  }

  private static boolean isStack(@Nullable Batchifier batchifier) {
    return batchifier != null && batchifier.getClass() == StackBatchifier.class;
  }

  /** The batch of such samples; null if they are not alike. */
  @Nullable Batch stack(
      List<PreparedSamples.Kept> samples, SampleStack stack, List<Long> indices, int progress)
      throws IOException {
    ByteBuffer bytes = stack.of(samples);
    if (bytes == null) {
      return null;
    }
    NDManager manager = fields.manager.require(iterable).newSubManager();
    manager.setName("dataIter fetch");
    try {
      return fields.frame(iterable, indices, progress).make(manager, bytes);
    } finally {
      stack.free(bytes, BatchFrame.copiesToGpu(manager));
    }
  }

  /** An iterable that fetches as the program's does, what is kept apart. */
  DataIterable over(PreparedSamples samples, PreparedSamples.Plan plan) {
    FixedPipeline fixed = ((Fixed) plan.settings()).pipeline;
    Pipeline own = fields.pipeline.get(iterable);
    int kept = plan.kept() - 1;
    return fields.like(
        iterable,
        new PreparedDataset(dataset(), samples, plan, fixed.stages(kept, copies), isStacked(plan)),
        fields.manager.require(iterable),
        own == null || kept >= fixed.size() ? null : copies.part(own, kept, fixed.size()),
        fields.targetPipeline.get(iterable));
  }
}
