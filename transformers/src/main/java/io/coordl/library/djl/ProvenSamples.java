package io.coordl.library.djl;

import ai.djl.training.dataset.DataIterable;
import io.coordl.pipeline.SampleVerdict;
import io.coordl.purity.PurityAnalyzer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Whether the samples of a {@link DataIterable} could be kept. Only reads; any thread. */
public final class ProvenSamples implements Function<Object, @Nullable SampleVerdict> {
  private final IterableFields fields;

  public ProvenSamples() throws ReflectiveOperationException {
    fields = new IterableFields();
  }

  @Override
  public @Nullable SampleVerdict apply(Object batches) {
    if (batches.getClass() != DataIterable.class
        || fields.dataset.get((DataIterable) batches) instanceof PreparedDataset) {
      return null;
    }
    DataIterable iterable = (DataIterable) batches;
    if (!FixedPipeline.Copies.isPlain(fields.pipeline.get(iterable))) {
      return null;
    }
    return SampleVerdict.of(
        new IterablePipeline(iterable, fields, new Tables()),
        new PurityAnalyzer(KnownDjl.PREFIX, new KnownDjl(true)),
        KnownDjl.PREFIX);
  }
}
