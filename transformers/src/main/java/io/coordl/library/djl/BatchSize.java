package io.coordl.library.djl;

import ai.djl.training.dataset.Batch;
import java.util.function.ToLongFunction;

/** Samples of a batch of DJL, as whoever made it has said. */
public final class BatchSize implements ToLongFunction<Object> {
  @Override
  public long applyAsLong(Object batch) {
    return ((Batch) batch).getSize();
  }
}
