package io.coordl.staging;

/** How this job prepares a batch by itself. */
public interface BatchSource {
  /**
   * Prepares one batch of the pass. Called on threads of the agent, by as many at once as {@link
   * CoordinatedPass#prepareWith} was told, in no particular order.
   *
   * @param batch its number
   * @param items its items, in order
   * @throws Exception what the program's own code throws; this job then prepares no more in this
   *     pass, and the program meets the exception when it asks for that batch itself
   */
  PreparedBatch prepare(int batch, int[] items) throws Exception;
}
