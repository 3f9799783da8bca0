package io.coordl.djl;

import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.PrefetchedPipeline;
import io.coordl.staging.NotPreparedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DataIterable} without an executor, whose batches are prepared ahead by an iterable of
 * our own over a manager of our own, so that the program may close its manager at any time; the
 * arrays are handed to the program's manager when it takes the batch.
 */
record PrefetchedIterable(DataIterable iterable, IterableFields fields, FixedPipeline.Copies copies)
    implements PrefetchedPipeline {
  @Override
  public @Nullable PeekingIterator<?> upcoming() {
    return fields.sample(iterable) instanceof PeekingIterator<?> order ? order : null;
  }

  @Override
  public RandomAccessDataset dataset() {
    return fields.dataset(iterable);
  }

  @Override
  public int count(Object samples) {
    return ((List<?>) samples).size();
  }

  @Override
  public Fixed settings() {
    return new Fixed(
        ImageFactory.getInstance(),
        copies.copy(fields.pipeline(iterable)),
        copies.copy(fields.targetPipeline(iterable)));
  }

  @Override
  public Draft draft(Settings settings, Object samples, int position) {
    return new DraftBatch(this, (Fixed) settings, indices(samples), position);
  }

  @SuppressWarnings("unchecked") // What the sampler of a DataIterable yields.
  private static List<Long> indices(Object samples) {
    return (List<Long>) samples;
  }

  /** What the program can change at any time, as it was. */
  private record Fixed(
      @Nullable ImageFactory factory, @Nullable FixedPipeline data, @Nullable FixedPipeline labels)
      implements Settings {
    @Override
    public List<@Nullable Object> parts(PrefetchedPipeline pipeline) {
      PrefetchedIterable of = (PrefetchedIterable) pipeline;
      List<@Nullable Object> parts = new ArrayList<>();
      parts.add(of.dataset());
      parts.add(factory);
      parts.add(of.fields.dataBatchifier(of.iterable));
      parts.add(of.fields.labelBatchifier(of.iterable));
      parts.addAll(FixedPipeline.parts(data));
      parts.addAll(FixedPipeline.parts(labels));
      return parts;
    }

    @Override
    public boolean hasPartsOf(Settings other) {
      return other instanceof Fixed o
          && factory == o.factory
          && FixedPipeline.haveSameTransforms(data, o.data)
          && FixedPipeline.haveSameTransforms(labels, o.labels);
    }

    @Override
    public boolean isCurrent(PrefetchedPipeline pipeline) {
      PrefetchedIterable now = (PrefetchedIterable) pipeline;
      return factory == ImageFactory.getInstance()
          && FixedPipeline.isSame(data, now.fields.pipeline(now.iterable), now.copies)
          && FixedPipeline.isSame(labels, now.fields.targetPipeline(now.iterable), now.copies);
    }
  }

  /** A batch under a manager of ours. */
  private static final class DraftBatch implements Draft {
    private @Nullable PrefetchedIterable of;
    private final Fixed fixed;
    private final List<Long> indices;
    private final int position;
    private volatile @Nullable NDManager manager;
    private volatile @Nullable Batch batch;

    DraftBatch(PrefetchedIterable of, Fixed fixed, List<Long> indices, int position) {
      this.of = of;
      this.fixed = fixed;
      this.indices = indices;
      this.position = position;
    }

    @Override
    public void prepare() throws Exception {
      PrefetchedIterable from = Objects.requireNonNull(of);
      of = null;
      NDManager programs = from.fields.manager(from.iterable);
      NDManager own = programs.getEngine().newBaseManager(programs.getDevice());
      manager = own;
      DataIterable shadow = shadow(from, own);
      try {
        batch = from.fields.fetch(shadow, indices, position);
      } catch (Exception | Error e) {
        throw new NotPreparedException(e);
      }
    }

    /** An iterable that prepares as the program's does. */
    private DataIterable shadow(PrefetchedIterable from, NDManager own) {
      FixedPipeline data = fixed.data();
      FixedPipeline labels = fixed.labels();
      return new DataIterable(
          from.dataset(),
          own,
          NO_ORDER,
          from.fields.dataBatchifier(from.iterable),
          from.fields.labelBatchifier(from.iterable),
          data == null ? null : data.copy(),
          labels == null ? null : labels.copy(),
          null,
          0,
          from.fields.device(from.iterable));
    }

    @Override
    public @Nullable Object handOver(PrefetchedPipeline pipeline) {
      PrefetchedIterable to = (PrefetchedIterable) pipeline;
      Batch ready = batch;
      if (ready == null) {
        return null;
      }
      try {
        NDManager target = to.fields.manager(to.iterable).newSubManager();
        target.setName("dataIter fetch");
        ready.getData().attach(target);
        ready.getLabels().attach(target);
        to.fields.manage(ready, target);
        closeOwn();
        return ready;
      } catch (RuntimeException e) {
        return null; // The program has closed its manager: its own call says so.
      }
    }

    private void closeOwn() {
      NDManager own = manager;
      if (own != null) {
        own.close();
      }
    }

    @Override
    public void close() {
      Batch ready = batch;
      if (ready != null) {
        ready.close();
      }
      closeOwn();
    }
  }

  /** An iterable of our own is only asked to fetch. */
  private static final Sampler NO_ORDER =
      new Sampler() {
        @Override
        public Iterator<List<Long>> sample(RandomAccessDataset dataset) {
          return Collections.emptyIterator();
        }

        @Override
        public int getBatchSize() {
          return -1;
        }
      };
}
