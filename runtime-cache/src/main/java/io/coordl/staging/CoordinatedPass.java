package io.coordl.staging;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One pass of this job over its data set, shared with other jobs. Thread-safe. Every wait is
 * bounded: whatever becomes of the others, the job can prepare each batch of {@link #order} by
 * itself, so that it uses every batch exactly once.
 */
public interface CoordinatedPass {
  /** The order all jobs of this pass follow; it may be this job's own. */
  BatchOrder order();

  /**
   * Begins to prepare this job's part on threads of the agent; a second call does nothing.
   *
   * @param threads how many may call {@code source} at once, from 1 on
   */
  void prepareWith(BatchSource source, int threads);

  /**
   * The batch, as soon as one of the jobs has prepared it. Each batch may be taken once, in any
   * order and by any thread; interrupts neither end the wait nor are lost.
   *
   * @return null if the job is to prepare it by itself: nobody else will, or not soon enough
   */
  @Nullable StagedBatch take(int batch);

  /**
   * As {@link #take}, for whoever copies the bytes at once: nothing is mapped for the one use, and
   * the memory is given back before this returns. Each batch may be taken or used once.
   *
   * @return what {@code reader} made; null, and it was not called, if the job is to prepare the
   *     batch by itself
   * @throws IOException what {@code reader} throws, or if there is no way to the bytes
   */
  <T> @Nullable T use(int batch, BatchReader<T> reader) throws IOException;

  /**
   * This job takes no more of this pass: it came to the end, left the loop, or begins anew. Threads
   * of the agent are no longer inside {@link BatchSource#prepare} when this returns, unless they
   * hang there; a second call does nothing.
   */
  void end();
}
