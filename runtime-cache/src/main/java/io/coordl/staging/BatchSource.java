package io.coordl.staging;

/** How this job prepares a batch by itself. */
public interface BatchSource {
  /**
   * Prepares one batch of the epoch. Called on threads of the agent, by as many at once as {@link
   * SharedEpoch#prepareWith} was told, in no particular order.
   *
   * @throws NotPreparedException if that is no fault of the agent; this job then prepares no more
   *     in this epoch
   * @throws Exception what fails in the agent: the same, and a fault
   */
  PreparedBatch prepare(int batch, int[] items) throws Exception;
}
