package io.coordl.pipeline;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The source of one epoch's batches, chosen by {@link EpochEngine}. Like the program's iterator,
 * used by one thread at a time.
 */
public interface EpochSource {
  LibraryEpoch epoch();

  /** Begins the epoch; returns false if this source cannot serve it. */
  boolean begin();

  /**
   * Returns a batch as the iterator would prepare it, without the effects of {@link #finish}. Null
   * if the library must prepare this batch and all later ones; its own call then throws any
   * exception of the program's code.
   */
  @Nullable Object batch(int number) throws IOException;

  /**
   * Returns the current inputs of a batch, compared by {@code equals}; null if it must not be
   * prefetched.
   */
  default @Nullable Object state(int number) {
    return null;
  }

  /** Whether a batch is available without reading its records. */
  default boolean isKnown(int number) {
    return false;
  }

  /** Completes the batch when the program requests it; throws what the program's code throws. */
  default void finish(Object batch) {}

  /** Counts a batch that the program has received. */
  default void used() {}

  boolean isOver();

  /** Ends the epoch: no more batches are requested. A second call does nothing. */
  void end();
}
