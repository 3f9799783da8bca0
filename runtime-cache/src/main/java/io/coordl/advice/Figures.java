package io.coordl.advice;

/**
 * What was counted over a job, one pass or some. Wall, compute, stalls and checkpoint are times of
 * the training thread; the stall is the sum of its four parts; fetch, decode, transform and other
 * times are self times summed over all threads.
 */
public record Figures(
    long wallNanos,
    long batches,
    long computeNanos,
    long stallNanos,
    long fetchStallNanos,
    long prepStallNanos,
    long gcStallNanos,
    long queueStallNanos,
    long checkpointNanos,
    long fetchTimeNanos,
    long decodeTimeNanos,
    long transformTimeNanos,
    long otherTimeNanos,
    long items,
    long memoryItems,
    long peerItems,
    long storageItems,
    long memoryBytes,
    long peerBytes,
    long storageBytes) {

  public static final Figures NONE =
      new Figures(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** The sum of two. */
  public Figures plus(Figures more) {
    return plus(more, 1);
  }

  /** What came after an earlier reading. */
  public Figures minus(Figures earlier) {
    return plus(earlier, -1);
  }

  private Figures plus(Figures o, int sign) {
    return new Figures(
        wallNanos + sign * o.wallNanos,
        batches + sign * o.batches,
        computeNanos + sign * o.computeNanos,
        stallNanos + sign * o.stallNanos,
        fetchStallNanos + sign * o.fetchStallNanos,
        prepStallNanos + sign * o.prepStallNanos,
        gcStallNanos + sign * o.gcStallNanos,
        queueStallNanos + sign * o.queueStallNanos,
        checkpointNanos + sign * o.checkpointNanos,
        fetchTimeNanos + sign * o.fetchTimeNanos,
        decodeTimeNanos + sign * o.decodeTimeNanos,
        transformTimeNanos + sign * o.transformTimeNanos,
        otherTimeNanos + sign * o.otherTimeNanos,
        items + sign * o.items,
        memoryItems + sign * o.memoryItems,
        peerItems + sign * o.peerItems,
        storageItems + sign * o.storageItems,
        memoryBytes + sign * o.memoryBytes,
        peerBytes + sign * o.peerBytes,
        storageBytes + sign * o.storageBytes);
  }

  /** Bytes that were asked for, wherever they came from. */
  public long bytes() {
    return memoryBytes + peerBytes + storageBytes;
  }

  /** A part of the wall time, 0 to 1; 0 if there was no wall time. */
  public double share(long nanos) {
    return wallNanos <= 0 ? 0 : (double) nanos / wallNanos;
  }
}
