package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.DataStallEvent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The calls that make up one wait for a batch: {@code hasNext}, perhaps repeatedly, and {@code
 * next}. Time between the calls is not waiting. All times are from {@link System#nanoTime};
 * confined to one thread.
 */
final class WaitIntervals {
  private long[] starts = new long[4];
  private long[] ends = new long[4];
  private int count;

  /** Nanoseconds inside the calls. */
  long total;

  boolean isEmpty() {
    return count == 0;
  }

  void add(long start, long end) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, count * 2);
      ends = Arrays.copyOf(ends, count * 2);
    }
    starts[count] = start;
    ends[count] = end;
    count++;
    total += end - start;
  }

  /** Returns the start of the first call; there must be one. */
  long start() {
    return starts[0];
  }

  /** Returns the nanoseconds of the wait between {@code from} and {@code to}. */
  long overlap(long from, long to) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.max(0, Math.min(ends[i], to) - Math.max(starts[i], from));
    }
    return sum;
  }

  /**
   * Divides the wait along the critical path of its batch. GC pauses are subtracted first. The time
   * during which the batch was in preparation is divided in proportion to its fetch and prep times.
   * The rest is queueing.
   *
   * @param pauses nanoseconds of GC pauses inside the calls
   * @param batch null if no batch came
   * @param dataSet nanoseconds of the wait in which a data set was prepared, before the batch was
   */
  void divide(DataStallEvent stall, long pauses, @Nullable BatchRecord batch, long dataSet) {
    stall.wait = total;
    if (batch != null) {
      stall.gc = Math.min(total, pauses);
      double running = total == 0 ? 0 : (double) (total - stall.gc) / total;
      long batchNanos = Math.round(overlap(batch.start, batch.end) * running);
      stall.fetch = Math.round(batchNanos * batch.fetchShare());
      stall.prep = batchNanos - stall.fetch + Math.round(dataSet * running);
    }
    stall.queue = total - stall.gc - stall.fetch - stall.prep;
  }

  void clear() {
    count = 0;
    total = 0;
  }
}
