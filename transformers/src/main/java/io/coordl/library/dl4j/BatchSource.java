package io.coordl.library.dl4j;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where the batches of an epoch come from, in the order of the {@link ReaderPipeline}. */
interface BatchSource {
  /** False if the epoch is the library's own. */
  boolean begin(IteratorEpoch owner);

  /**
   * A batch, as the iterator would make it but for what {@link #finish} does; null if the library
   * is to make it, and all that follow. It is then the library's own call that throws what the
   * program's code throws.
   */
  @Nullable Object batch(int number) throws IOException;

  /** What decides a batch now, for {@code equals}; null if it is not to be made early. */
  default @Nullable Object state(int number) {
    return null;
  }

  /** Whether a batch is there without a look at its records. */
  default boolean isKnown(int number) {
    return false;
  }

  /** What is left to do with it, once the readers stand behind it; throws what the program does. */
  default void finish(Object batch) {}

  /** The program has one batch more. */
  default void used() {}

  boolean isOver();

  /** No more batches are taken; the second call does nothing. */
  void end();
}
