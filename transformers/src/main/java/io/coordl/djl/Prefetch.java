package io.coordl.djl;

import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.RandomSampler;
import ai.djl.training.dataset.SequenceSampler;
import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.lang.reflect.Field;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code prefetch=N} in DJL. The order of a pass is known from its sampler: {@link BatchSampler}
 * over one of the library's own samplers, which have drawn all their random numbers when the pass
 * begins, so that looking ahead draws none. Samplers of the program's own are left alone.
 */
public final class Prefetch implements LibraryHooks {
  private final Field subSampler;
  private final BatchesAhead batches;
  private final @Nullable ItemPrefetcher items;
  private final @Nullable ImageItems images;

  /**
   * Answers for DJL.
   *
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   */
  public Prefetch(Class<?> dataIterable, Services services) throws ReflectiveOperationException {
    subSampler = Symbols.field(BatchSampler.class, "subSampler");
    batches = new BatchesAhead(Objects.requireNonNull(services.ahead()), services.words());
    items = services.items();
    images = items == null ? null : new ImageItems(services.decoded());
  }

  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    if (self instanceof DataIterable iterable) {
      try {
        return batches.enter(iterable, indices(arguments[0]), (Integer) arguments[1]);
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(e);
      }
    }
    if (method.equals("prepare")) {
      batches.prepare();
      return null;
    }
    return self.getClass() == BatchSampler.class
            && arguments[0] instanceof RandomAccessDataset dataset
            && drawsAtOnce((BatchSampler) self)
        ? new Sampling(dataset, ((BatchSampler) self).getBatchSize())
        : null;
  }

  @SuppressWarnings("unchecked") // The method's own parameter.
  private static List<Long> indices(Object argument) {
    return (List<Long>) argument;
  }

  private boolean drawsAtOnce(BatchSampler sampler) {
    try {
      Object sub = subSampler.get(sampler);
      return sub != null
          && (sub.getClass() == RandomSampler.class || sub.getClass() == SequenceSampler.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The beginning of a pass. */
  private final class Sampling extends LibraryCall {
    private final RandomAccessDataset dataset;
    private final int batchSize;

    Sampling(RandomAccessDataset dataset, int batchSize) {
      this.dataset = dataset;
      this.batchSize = batchSize;
    }

    @Override
    public boolean answered() {
      return false;
    }

    @Override
    @SuppressWarnings("unchecked") // What BatchSampler.sample returns.
    public @Nullable Object result(@Nullable Object own) {
      batches.begin(dataset);
      return own == null ? null : lookAhead((Iterator<List<Long>>) own);
    }

    private PeekingIterator<List<Long>> lookAhead(Iterator<List<Long>> batches) {
      ItemPrefetcher offered = items;
      ImageItems.Source source = offered == null || images == null ? null : images.of(dataset);
      if (offered == null || source == null) {
        return new PeekingIterator<>(batches, 1, batch -> {});
      }
      int most = Math.max(1, ItemPrefetcher.LOOK_AHEAD / Math.max(1, batchSize));
      Object pass = new Object(); // Lives as long as the iterator, whose listener holds it.
      return new PeekingIterator<>(batches, most, batch -> source.offer(batch, offered, pass));
    }
  }
}
