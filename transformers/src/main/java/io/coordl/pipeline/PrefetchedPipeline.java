package io.coordl.pipeline;

import io.coordl.staging.NotPreparedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline whose batches are prefetched. This is all that {@link BatchPrefetcher} knows of a
 * library. Made for one call of the program, and held only until that call's next batch is
 * prepared.
 */
public interface PrefetchedPipeline {
  /** The samples of the next batches; null if unknown. */
  @Nullable PeekingIterator<?> upcoming();

  /** The number of samples in a batch; 0 if their position does not matter. */
  default int count(Object samples) {
    return 0;
  }

  /**
   * The data set; its prefetched batches are dropped when the program begins another epoch of it.
   */
  Object dataset();

  /**
   * A copy of the current settings: everything that decides how a batch is made and that the
   * program can change at any time. Does not refer to the pipeline.
   */
  Object settings();

  /** The program's objects that make a batch. */
  default List<@Nullable Object> parts(Object settings) {
    return List.of(settings);
  }

  /** Whether both settings have the same objects that make a batch. */
  default boolean haveSameParts(Object settings, Object other) {
    return settings.equals(other);
  }

  /** Whether the settings are still those that the program's own call would use. */
  default boolean isCurrent(Object settings) {
    return settings.equals(settings());
  }

  /**
   * Prepares a batch with the program's own code, on the prefetcher's thread.
   *
   * @param samples as returned by {@link #upcoming}
   * @param position number of samples up to the end of the batch
   * @throws NotPreparedException with the exception of the program's code
   * @throws Exception if the agent fails
   */
  Object prefetch(Object settings, Object samples, int position) throws Exception;

  /**
   * Hands the batch to the program, with all state changes that its own call would have made. Runs
   * on the program's thread.
   *
   * @return false if that is impossible; the program's own call then reports why
   */
  default boolean handOver(Object batch) {
    return true;
  }
}
