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
   * The part of a wait in which a data set was prepared, before its first batch was requested.
   *
   * @param nanos length of this part
   * @param fetch time within this part spent on fetches
   * @param until when this part ended
   */
  record DataSetWait(long nanos, long fetch, long until) {
    static final DataSetWait NONE = new DataSetWait(0, 0, 0);
  }

  /**
   * Divides the wait along the critical path of its batch. GC pauses are subtracted first. The time
   * during which the data set or the batch was in preparation is divided in proportion to fetch and
   * prep times. The rest is queueing, unless the waiting thread prepared the batch itself: then it
   * is prep.
   *
   * @param pauses nanoseconds of GC pauses between start and end of the wait
   * @param batch null if no batch came
   * @param dataSet the data set's part of the wait
   * @param isWithin whether the batch's preparation includes that of the data set
   */
  void divide(
      DataStallEvent stall,
      long pauses,
      @Nullable BatchRecord batch,
      DataSetWait dataSet,
      boolean isWithin) {
    stall.wait = total;
    boolean hasSet = dataSet.nanos() > 0;
    stall.gc = batch == null && !hasSet ? 0 : Math.min(total, pauses);
    double running = total == 0 ? 0 : (double) (total - stall.gc) / total;
    long fetchOfSet = Math.round(dataSet.fetch() * running);
    long prepOfSet = Math.round(dataSet.nanos() * running) - fetchOfSet;
    if (batch != null) {
      // Another thread may have begun the batch while the data set was being prepared.
      long from = hasSet && !isWithin ? Math.max(batch.start, dataSet.until()) : batch.start;
      long preparing = Math.round(overlap(from, batch.end) * running);
      stall.fetch = Math.round(preparing * batch.fetchShare());
      stall.prep = preparing - stall.fetch;
    }
    if (!isWithin) {
      stall.fetch += fetchOfSet;
      stall.prep += prepOfSet;
    }
    stall.dataSet = Math.min(stall.prep, prepOfSet);
    long rest = Math.max(0, total - stall.gc - stall.fetch - stall.prep);
    if (batch != null && batch.isOfThisThread()) {
      stall.prep += rest;
    } else {
      stall.queue = rest;
    }
  }

  void clear() {
    count = 0;
    total = 0;
  }
}
