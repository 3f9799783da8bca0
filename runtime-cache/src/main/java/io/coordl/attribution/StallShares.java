package io.coordl.attribution;

/**
 * One wait of a training thread and what it was for; the shares add up to the wait. Nanoseconds.
 *
 * @param total the whole wait
 * @param fetch waiting for bytes
 * @param prep waiting for decode, transforms and assembly
 * @param gc collector pauses inside the wait
 * @param queue hand-over, and waiting for a worker to begin
 */
record StallShares(long total, long fetch, long prep, long gc, long queue) {

  /**
   * Divides a wait along the critical path of the batch it was for. Collector pauses are taken out
   * first; the part of the wait in which the batch was being prepared is divided as its preparation
   * was; the rest is queueing.
   *
   * @param gc pauses between the wait's begin and end
   */
  static StallShares of(WaitIntervals wait, long gc, BatchRecord batch) {
    long total = wait.total();
    long pause = Math.min(total, gc);
    long overlap = wait.overlap(batch.start(), batch.end());
    double left = total == 0 ? 0 : (double) (total - pause) / total;
    long preparing = Math.round(overlap * left);
    long fetch = Math.round(preparing * batch.fetchShare());
    return new StallShares(total, fetch, preparing - fetch, pause, total - pause - preparing);
  }

  /** A wait at the end of a pass, for no batch. */
  static StallShares queueing(long wait) {
    return new StallShares(wait, 0, 0, 0, wait);
  }
}
