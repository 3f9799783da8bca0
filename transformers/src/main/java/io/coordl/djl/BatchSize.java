package io.coordl.djl;

import ai.djl.training.dataset.Batch;
import io.coordl.pipeline.LibraryCounts;

/** Samples of a batch of DJL, as whoever made it has said. */
public final class BatchSize implements LibraryCounts.OfLibrary {
  /** Knows any batch. */
  public BatchSize() {}

  @Override
  public long count(Object batch) {
    return ((Batch) batch).getSize();
  }
}
