package io.coordl.library.djl;

import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.BatchSampler;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.RandomSampler;
import ai.djl.training.dataset.SequenceSampler;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.BatchPrefetcher;
import io.coordl.pipeline.ItemPrefetcher;
import io.coordl.pipeline.KeptItems;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.Prepared;
import io.coordl.pipeline.Services;
import io.coordl.purity.PurityAnalyzer;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code prefetch=N} in DJL. The order of an epoch is known from its sampler: a {@link
 * BatchSampler} over one of the library's own samplers, which draw all their random numbers when
 * the epoch begins, so reading ahead draws none. Ignores the program's own samplers.
 */
public final class Prefetch implements LibraryHooks {
  private final LibraryField<Object> subSampler = LibraryField.of(BatchSampler.class, "subSampler");
  private final IterableFields fields = new IterableFields();
  private final @Nullable BatchPrefetcher batches;
  private final @Nullable ItemPrefetcher items;
  private final @Nullable ImageItems images;
  private final @Nullable Prepared prepared;

  public Prefetch(Class<?> dataIterable, Services services) throws ReflectiveOperationException {
    if (RandomUtils.RANDOM instanceof ForkableRandom random) {
      PurityAnalyzer code = new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(false));
      batches =
          new BatchPrefetcher(
              services, code, random, "DJL's random generator", batch -> ((Batch) batch).close());
    } else {
      batches = null;
      services
          .log()
          .say(
              BatchPrefetcher.leavesMessage(
                  "DJL created its random generator before the agent started"));
    }
    items = services.items();
    prepared = services.prepared();
    images = items == null ? null : new ImageItems(KeptItems.of(services));
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    BatchPrefetcher prefetcher = batches;
    if (self instanceof DataIterable iterable) {
      return prefetcher != null
              && iterable.getClass() == DataIterable.class
              && fields.executor.get(iterable) == null
              && FixedPipeline.Copies.isPlain(fields.pipeline.get(iterable))
              && FixedPipeline.Copies.isPlain(fields.targetPipeline.get(iterable))
          ? prefetcher.enter(
              new IterablePipeline(iterable, fields, null), arguments[0], (Integer) arguments[1])
          : null;
    }
    if (method.equals("prepare")) {
      if (prefetcher != null) {
        prefetcher.prepare();
      }
      return null;
    }
    return self.getClass() == BatchSampler.class
            && arguments[0] instanceof RandomAccessDataset dataset
            && drawsUpFront((BatchSampler) self)
        ? InterceptedCall.after(own -> begin(dataset, ((BatchSampler) self).getBatchSize(), own))
        : null;
  }

  private boolean drawsUpFront(BatchSampler sampler) {
    Object sub = subSampler.get(sampler);
    return sub != null
        && (sub.getClass() == RandomSampler.class || sub.getClass() == SequenceSampler.class);
  }

  /** Called when a sampler has begun an epoch. */
  @SuppressWarnings("unchecked") // The type that BatchSampler.sample returns.
  private @Nullable Object begin(
      RandomAccessDataset dataset, int batchSize, @Nullable Object sampled) {
    if (batches != null) {
      batches.begin(dataset);
    }
    if (sampled == null) {
      return null;
    }
    Iterator<List<Long>> own = (Iterator<List<Long>>) sampled;
    ItemPrefetcher to = items;
    Prepared kept = prepared;
    ImageItems.Source source = to == null || images == null ? null : images.of(dataset);
    return to == null || source == null
        ? new PeekingIterator<>(own, 1, batch -> {})
        : source.peek(
            own, batchSize, to, sample -> kept != null && kept.sparesItems(dataset, sample));
  }
}
