package io.coordl.pipeline;

import io.coordl.staging.BatchOrder;
import io.coordl.staging.BatchSource;
import io.coordl.staging.Fingerprint;
import io.coordl.staging.PreparedBatch;

/**
 * A data set with its sampler, transforms and batch size, in one epoch of this job. This is all
 * that coordinated prep knows of a library. Refers weakly to the program's objects that decide how
 * long the epoch lasts.
 */
public interface Pipeline extends BatchSource {
  /**
   * The parts that two jobs compare; called once, when the program asks for the first batch.
   *
   * @throws CannotShareException if a part cannot be compared
   */
  Fingerprint fingerprint() throws CannotShareException;

  /** The samples of each batch, in the order of this job's own sampler. */
  BatchOrder order();

  /**
   * Adopts {@code order}, which has the same batch sizes, for all later batches here and in the
   * program's own code.
   *
   * @return false if it is not a valid order of this pipeline; nothing has changed then
   */
  default boolean follow(BatchOrder order) {
    return true;
  }

  /**
   * How many threads may run {@link #prepare} at once, at least 1; known once an order is adopted.
   */
  default int threads() {
    return 1;
  }

  /**
   * Prepares a batch with the program's own code, on an agent thread.
   *
   * @throws CannotShareException if the batch is more than its bytes
   */
  @Override
  PreparedBatch prepare(int batch, int[] samples) throws Exception;

  /** Whether it uses {@code part} (a data set, a reader, a manager of arrays). */
  default boolean uses(Object part) {
    return false;
  }

  /** Frees resources, since no more batches will be prepared. May be called more than once. */
  default void ended() {}
}
