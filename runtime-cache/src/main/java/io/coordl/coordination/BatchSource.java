package io.coordl.coordination;

/** Prepares batches in this job. */
public interface BatchSource {
  /**
   * Prepares one batch of the epoch. Called in any order and concurrently, on the agent threads
   * that {@link SharedEpoch#prepareWith} started.
   *
   * @throws NotPreparedException if the agent is not at fault; this job then prepares nothing more
   *     in this epoch
   * @throws Exception if the agent failed; this job then prepares nothing more in this epoch, and a
   *     fault is reported
   */
  PreparedBatch prepare(int batch, int[] items) throws Exception;
}
