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
   * @param wait time inside the calls that waited; at most {@code end - start}
   * @param start begin of the wait, by {@link System#nanoTime}
   * @param end end of the wait
   * @param gc pauses between start and end
   */
  static StallShares of(long wait, long start, long end, long gc, BatchRecord batch) {
    long pause = Math.min(wait, gc);
    long rest = wait - pause;
    long span = Math.max(1, end - start);
    long overlap = Math.max(0, Math.min(end, batch.end()) - Math.max(start, batch.start()));
    long preparing = Math.round((double) rest * Math.min(overlap, span) / span);
    long fetch = Math.round(preparing * batch.fetchShare());
    return new StallShares(wait, fetch, preparing - fetch, pause, rest - preparing);
  }

  /** A wait at the end of a pass, for no batch. */
  static StallShares queueing(long wait) {
    return new StallShares(wait, 0, 0, 0, wait);
  }
}
