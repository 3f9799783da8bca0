package io.coordl.pipeline;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The source of one epoch's batches, chosen by {@link EpochEngine}. Like the program's iterator,
 * used by one thread at a time.
 */
public interface EpochSource {
  LibraryEpoch epoch();

  /** Begins the epoch; false if this source cannot serve it. */
  boolean begin();

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

  /** Completes the batch at the program's call; throws what the program throws. */
  default void finish(Object batch) {}

  /** Counts a batch that the program has received. */
  default void used() {}

  boolean isOver();

  /** No more batches are taken; a second call does nothing. */
  void end();
}
