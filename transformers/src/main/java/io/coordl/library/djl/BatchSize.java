package io.coordl.library.djl;

import ai.djl.training.dataset.Batch;
import java.util.function.ToLongFunction;

/** The number of samples in a DJL batch, as stated by its creator. */
public final class BatchSize implements ToLongFunction<Object> {
  @Override
  public long applyAsLong(Object batch) {
    return ((Batch) batch).getSize();
  }
}
