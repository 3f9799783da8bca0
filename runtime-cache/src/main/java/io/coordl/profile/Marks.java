package io.coordl.profile;

import io.coordl.event.PhaseEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * When items that are counted from 1 on were done. Of so many that they would not fit, every
 * second, fourth, eighth .. one is remembered: always the same amount of memory. Thread-safe.
 */
final class Marks {
  /** At most so many are remembered. */
  static final int MOST = 1 << 13;

  /** Fewer tell nothing of how even they were. */
  private static final int FEWEST = 5;

  private final long[] ends = new long[MOST];
  private int count;
  private volatile long stride = 1;

  /** Whether that one is to be remembered; so that most need no clock and no lock. */
  boolean wants(long number) {
    return number % stride == 0;
  }

  synchronized void add(long number, long nanos) {
    if (count == MOST) {
      for (int i = 0; i < MOST / 2; i++) {
        ends[i] = ends[2 * i + 1];
      }
      count = MOST / 2;
      stride *= 2;
    }
    if (wants(number)) { // Not if that has changed just now.
      ends[count++] = nanos;
    }
  }

  /**
   * All that are remembered since {@code begun} in at most so many windows, each as one step; none
   * if they are too few.
   */
  synchronized List<Step> windows(long begun, int most) {
    List<Step> windows = new ArrayList<>();
    int parts = count < FEWEST ? 0 : Math.min(most, count);
    long from = begun;
    for (int w = 0; w < parts; w++) {
      int first = (int) ((long) w * count / parts);
      int end = (int) ((w + 1L) * count / parts);
      windows.add(new Step((int) ((end - first) * stride), ends[end - 1] - from, new PhaseEvent()));
      from = ends[end - 1];
    }
    return windows;
  }
}
