package io.coordl.djl;

import ai.djl.training.dataset.Batch;
import io.coordl.pipeline.BatchSizes;

/** Samples of a batch of DJL, as whoever made it has said. */
public final class BatchSize implements BatchSizes.OfLibrary {
  /** Knows any batch. */
  public BatchSize() {}

  @Override
  public long samples(Object batch) {
    return ((Batch) batch).getSize();
  }
}
