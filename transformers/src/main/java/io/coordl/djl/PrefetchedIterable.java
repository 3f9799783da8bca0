package io.coordl.djl;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.PrefetchedPipeline;
import io.coordl.staging.NotPreparedException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DataIterable} without an executor, whose batches are prefetched by an iterable of our
 * own over a manager of our own, so that the program may close its manager at any time; the arrays
 * are handed to the program's manager when it takes the batch.
 */
record PrefetchedIterable(DataIterable iterable, IterableFields fields, FixedPipeline.Copies copies)
    implements PrefetchedPipeline {
  @Override
  public @Nullable PeekingIterator<?> upcoming() {
    return fields.sample.get(iterable) instanceof PeekingIterator<?> order ? order : null;
  }

  @Override
  public RandomAccessDataset dataset() {
    return fields.dataset.require(iterable);
  }

  @Override
  public int count(Object samples) {
    return ((List<?>) samples).size();
  }

  private record Fixed(Surroundings around, FixedPipeline data, FixedPipeline labels) {}

  @Override
  public Object settings() {
    return new Fixed(
        Surroundings.of(iterable, fields),
        copies.copy(fields.pipeline.get(iterable)),
        copies.copy(fields.targetPipeline.get(iterable)));
  }

  @Override
  public List<@Nullable Object> parts(Object settings) {
    Fixed fixed = (Fixed) settings;
    List<@Nullable Object> parts = new ArrayList<>();
    parts.add(dataset());
    parts.add(fixed.around.factory());
    parts.add(fields.dataBatchifier.get(iterable));
    parts.add(fields.labelBatchifier.get(iterable));
    fixed.data.objects().forEach(parts::addAll);
    fixed.labels.objects().forEach(parts::addAll);
    return parts;
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
  public boolean isCurrent(Object settings) {
    Fixed fixed = (Fixed) settings;
    return fixed.around.equals(Surroundings.of(iterable, fields))
        && fixed.data.isOf(fields.pipeline.get(iterable), copies)
        && fixed.labels.isOf(fields.targetPipeline.get(iterable), copies);
  }

  @Override
  @SuppressWarnings("unchecked") // What the sampler of a DataIterable yields.
  public Batch prefetch(Object settings, Object samples, int position) throws Exception {
    Fixed fixed = (Fixed) settings;
    NDManager programs = fields.manager.require(iterable);
    NDManager own = programs.getEngine().newBaseManager(programs.getDevice());
    try {
      DataIterable shadow =
          fields.like(iterable, dataset(), own, fixed.data.copy(), fixed.labels.copy());
      Batch batch = fields.fetch(shadow, (List<Long>) samples, position);
      fields.batchManager.set(batch, own); // Closed with it.
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
      NDManager target = fields.manager.require(iterable).newSubManager();
      target.setName("dataIter fetch");
      ready.getData().attach(target);
      ready.getLabels().attach(target);
      fields.batchManager.set(ready, target);
    } catch (RuntimeException e) {
      return false; // The program has closed its manager: its own call says so.
    }
    own.close();
    return true;
  }
}
