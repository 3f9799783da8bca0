package io.coordl.library.djl;

import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.pipeline.CachedDataset;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.PurityAnalyzer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks whether the samples of a {@link DataIterable} could be cached. Read-only; any thread. */
public final class ProvenSamples implements Function<Object, @Nullable SampleVerdict> {
  private final IterableFields fields;

  public ProvenSamples() throws ReflectiveOperationException {
    fields = new IterableFields();
  }

  @Override
  public @Nullable SampleVerdict apply(Object batches) {
    if (!(batches instanceof DataIterable iterable)
        || fields.dataset.get(iterable) instanceof CachedDataset) {
      return null;
    }
    if (iterable.getClass() != DataIterable.class) {
      String reason =
          "its batches come from " + iterable.getClass().getName() + ", which is left to DJL";
      return new SampleVerdict(
          fields.dataset.require(iterable).getClass().getName(), 1, 0, reason, "", reason);
    }
    if (!FixedPipeline.Copies.isPlain(fields.pipeline.get(iterable))) {
      return null;
    }
    // Without the image factory, which the program may never load.
    RandomAccessDataset dataset = fields.dataset.require(iterable);
    List<List<@Nullable Object>> stages = new ArrayList<>();
    stages.add(List.of(dataset));
    stages.addAll(fields.copies.copy(fields.pipeline.get(iterable)).objects());
    return SampleVerdict.of(
        dataset.getClass().getName(),
        stages,
        new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(true)),
        new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(false)),
        KnownDjl.PREFIX);
  }
}
