package io.coordl.pipeline;

import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, or how many epochs a trainer makes, by the adapter of the library
 * that its class is of; 0 if that is not known. Never throws.
 */
public final class LibraryCounts implements ToLongFunction<Object> {
  /** What the objects of a library are, and who knows them. */
  private final LibraryAdapters<ToLongFunction<Object>> adapters =
      new LibraryAdapters<>(
          ToLongFunction.class,
          Map.of(
              "ai.djl.training.dataset.Batch", "io.coordl.djl.BatchSize",
              "org.nd4j.linalg.dataset.api.DataSet", "io.coordl.dl4j.BatchSize",
              "org.nd4j.linalg.dataset.api.MultiDataSet", "io.coordl.dl4j.BatchSize",
              "org.deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer",
                  "io.coordl.dl4j.EarlyStoppingEpochs"));

  @Override
  public long applyAsLong(Object counted) {
    try {
      @Nullable ToLongFunction<Object> adapter = adapters.of(counted);
      return adapter == null ? 0 : adapter.applyAsLong(counted);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }
}
