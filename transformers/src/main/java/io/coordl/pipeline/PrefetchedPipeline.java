package io.coordl.pipeline;

import io.coordl.staging.NotPreparedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline of which batches are prepared ahead: all that {@link BatchPrefetcher} knows of a
 * library. Made for one call of the program, which it outlives only while that call's next batch is
 * prepared.
 */
public interface PrefetchedPipeline {
  /** The samples of the batches to come; null if they are not known. */
  @Nullable PeekingIterator<?> upcoming();

  /** The data set; when the program begins another epoch of it, what is ahead goes. */
  Object dataset();

  /** How many samples a batch has. */
  int count(Object samples);

  /** What decides how a batch is made and the program can change at any time, as it is now. */
  Settings settings();

  /**
   * A batch that is yet to be prepared.
   *
   * @param samples as {@link #upcoming} has them
   * @param position how many samples there are up to the batch's end
   */
  Draft draft(Settings settings, Object samples, int position);

  /** A copy of what the program can change. Does not hold the pipeline. */
  interface Settings {
    /** The program's objects that make a batch. */
    List<@Nullable Object> parts(PrefetchedPipeline of);

    /** Whether those are the same as in {@code other}. */
    boolean hasPartsOf(Settings other);

    /** Whether the program's own call would find the same now. */
    boolean isCurrent(PrefetchedPipeline now);
  }

  /** A batch on its way. Once it is prepared it does not hold the pipeline. */
  interface Draft {
    /**
     * Prepares the batch, with the program's own code.
     *
     * @throws NotPreparedException with what that throws
     * @throws Exception what fails in the agent
     */
    void prepare() throws Exception;

    /**
     * The batch, made the program's with all that its own call would have changed; null if that
     * cannot be. On the program's thread.
     */
    @Nullable Object handOver(PrefetchedPipeline to);

    /** Frees the batch, handed over or not; not called once the program has it. Twice, too. */
    void close();
  }
}
