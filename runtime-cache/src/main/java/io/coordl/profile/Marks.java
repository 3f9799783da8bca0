package io.coordl.profile;

import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Completion times of items, which are numbered from 1. If there are too many, only every second,
 * fourth, eighth, ... is kept, so the memory is constant. Thread-safe.
 */
final class Marks {
  /** Maximum number of stored completion times. */
  static final int MAX_TIMES = 1 << 13;

  /** Fewer completion times do not show how much they vary. */
  private static final int MIN_TIMES = 5;

  private final long[] ends = new long[MAX_TIMES];
  private int count;
  private volatile long stride = 1;

  /** Whether to keep the time of this item. If not, the item needs neither clock nor lock. */
  boolean wants(long number) {
    return number % stride == 0;
  }

  synchronized void add(long number, long nanos) {
    if (count == MAX_TIMES) {
      for (int i = 0; i < MAX_TIMES / 2; i++) {
        ends[i] = ends[2 * i + 1];
      }
      count = MAX_TIMES / 2;
      stride *= 2;
    }
    if (wants(number)) { // The stride may have just changed.
      ends[count++] = nanos;
    }
  }

  /**
   * Divides the times since {@code begun} into at most {@code maxWindows} windows, each returned as
   * one step; empty if there are too few times.
   */
  synchronized List<Step> windows(long begun, int maxWindows) {
    List<Step> windows = new ArrayList<>();
    int parts = count < MIN_TIMES ? 0 : Math.min(maxWindows, count);
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
