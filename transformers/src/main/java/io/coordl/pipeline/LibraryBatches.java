package io.coordl.pipeline;

import io.coordl.coordination.BatchReader;
import io.coordl.coordination.PreparedBatch;

/** The batches of one library, for all of its iterators. Called on the training thread. */
public interface LibraryBatches {
  /**
   * A batch as bytes, and a reader that restores it.
   *
   * @param bytes the bytes of a batch that the program still owns
   * @param reader creates an equal batch with its own memory; refers to no array of the program
   */
  record Bytes(PreparedBatch bytes, BatchReader<?> reader) {}

  /** Returns the number of samples in a batch; 0 if unknown. */
  long samples(Object batch);

  /** Returns a batch as bytes; throws, with a reason for the user, if bytes cannot represent it. */
  Bytes bytes(Object batch);

  /** Lets a batch outlive its iterator, which may free its batches on the next call. */
  default void hold(Object batch) {}

  /** Frees a batch that is not passed to the program. */
  default void drop(Object batch) {}
}
