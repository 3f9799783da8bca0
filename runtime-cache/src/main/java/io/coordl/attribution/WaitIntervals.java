package io.coordl.attribution;

import java.util.Arrays;

/**
 * The calls that make up one wait for a batch: {@code hasNext}, perhaps again, and {@code next}.
 * What the program did between them is not waiting. By {@link System#nanoTime}; confined to a
 * thread.
 */
final class WaitIntervals {
  private long[] starts = new long[4];
  private long[] ends = new long[4];
  private int count;
  private long total;

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

  /** Begin of the first call; only if not empty. */
  long start() {
    return starts[0];
  }

  /** Nanoseconds inside the calls. */
  long total() {
    return total;
  }

  /** Nanoseconds of the wait between {@code from} and {@code to}. */
  long overlap(long from, long to) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.max(0, Math.min(ends[i], to) - Math.max(starts[i], from));
    }
    return sum;
  }

  void clear() {
    count = 0;
    total = 0;
  }
}
