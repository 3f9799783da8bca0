package io.coordl.pipeline;

import io.coordl.staging.NotPreparedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline whose batches are prefetched: all that {@link BatchPrefetcher} knows of a library.
 * Made for one call of the program, and held only until that call's next batch is prepared.
 */
public interface PrefetchedPipeline {
  /** The samples of the batches to come; null if they are not known. */
  @Nullable PeekingIterator<?> upcoming();

  /** How many samples a batch has; 0 where their position does not matter. */
  default int count(Object samples) {
    return 0;
  }

  /** The data set; when the program begins another epoch of it, what was prefetched is dropped. */
  Object dataset();

  /**
   * What decides how a batch is made and the program can change at any time: a copy of it as it is
   * now, which does not hold the pipeline.
   */
  Object settings();

  /** The program's objects that make a batch. */
  default List<@Nullable Object> parts(Object settings) {
    return List.of(settings);
  }

  /** Whether the same objects make a batch. */
  default boolean haveSameParts(Object settings, Object other) {
    return settings.equals(other);
  }

  /** Whether the program's own call would find the same now. */
  default boolean isCurrent(Object settings) {
    return settings.equals(settings());
  }

  /**
   * Prepares a batch with the program's own code, on the prefetcher's thread.
   *
   * @param samples as {@link #upcoming} has them
   * @param position how many samples there are up to the batch's end
   * @throws NotPreparedException with what the program's code throws
   * @throws Exception what fails in the agent
   */
  Object prefetch(Object settings, Object samples, int position) throws Exception;

  /**
   * Makes the batch the program's, with all that its own call would have changed. On the program's
   * thread.
   *
   * @return false if that cannot be: its own call says why
   */
  default boolean handOver(Object batch) {
    return true;
  }
}
