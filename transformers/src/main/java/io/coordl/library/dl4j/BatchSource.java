package io.coordl.library.dl4j;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The source of an epoch's batches, in the order of the {@link ReaderPipeline}. */
interface BatchSource {
  /** False if the library runs the epoch itself. */
  boolean begin(IteratorEpoch owner);

  /**
   * A batch as the iterator would make it, without the effects of {@link #finish}. Null if the
   * library has to make this batch and all later ones; exceptions of the program's code then come
   * from the library's own call.
   */
  @Nullable Object batch(int number) throws IOException;

  /**
   * The current inputs of a batch, compared by {@code equals}; null if it is not to be made early.
   */
  default @Nullable Object state(int number) {
    return null;
  }

  /** Whether a batch is available without reading its records. */
  default boolean isKnown(int number) {
    return false;
  }

  /**
   * Completes the batch once the readers are positioned after it; throws what the program throws.
   */
  default void finish(Object batch) {}

  /** Counts a batch that the program has received. */
  default void used() {}

  boolean isOver();

  /** No more batches are taken; a second call does nothing. */
  void end();
}
