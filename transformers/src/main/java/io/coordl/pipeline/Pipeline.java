package io.coordl.pipeline;

import io.coordl.staging.BatchOrder;
import io.coordl.staging.BatchSource;
import io.coordl.staging.Fingerprint;
import io.coordl.staging.PreparedBatch;

/**
 * A data set with its sampler, transforms and batch size, in one epoch of this job: all that
 * coordinated prep knows of a library. Refers weakly to whatever of the program decides how long
 * the epoch lasts.
 */
public interface Pipeline extends BatchSource {
  /**
   * What two jobs compare; asked once, when the program asks for the first batch.
   *
   * @throws CannotShareException if a part of it cannot be compared
   */
  Fingerprint fingerprint() throws CannotShareException;

  /** The samples of each batch, as this job's own sampler has them. */
  BatchOrder order();

  /**
   * From now on the batches are those of {@code order}, of the same sizes as its own, here and in
   * the program's own code.
   *
   * @return false if it is no order of this pipeline; nothing has happened then
   */
  default boolean follow(BatchOrder order) {
    return true;
  }

  /** How many threads may be in {@link #prepare} at once, from 1 on; known once it follows. */
  default int threads() {
    return 1;
  }

  /**
   * Prepares a batch with the program's own code, on a thread of the agent.
   *
   * @throws CannotShareException if the batch is more than its bytes
   */
  @Override
  PreparedBatch prepare(int batch, int[] samples) throws Exception;

  /** Whether it works with {@code part} (a data set, a reader, a manager of arrays). */
  default boolean uses(Object part) {
    return false;
  }

  /** No batch will be prepared any more: frees what is held for that. Called more than once. */
  default void ended() {}
}
