package io.coordl.telemetry.attribution;

import java.util.Arrays;

/**
 * Durations of one epoch's steps, to tell disturbed steps from undisturbed ones: a collection, a
 * wait for a core, cold caches or cold code make some steps longer, but hardly ever all of them.
 * Holds at most {@value #MAX_HELD} durations, evenly spaced. Used by one thread at a time.
 */
final class StepTimes {
  /** One step in so many is fast. */
  private static final int FAST = 10;

  /** With fewer steps, the fast ones may be those of an odd batch, as the last of an epoch is. */
  private static final int MIN_STEPS = 8;

  private static final int MAX_HELD = 1024;

  private long[] held = new long[16];
  private int size;
  private long sum;
  private long count;

  /** One step in so many is held. */
  private long spacing = 1;

  void add(long nanos) {
    sum += nanos;
    if (count++ % spacing != 0) {
      return;
    }
    if (size == MAX_HELD) {
      size = MAX_HELD / 2;
      for (int i = 0; i < size; i++) {
        held[i] = held[2 * i];
      }
      spacing *= 2;
    } else if (size == held.length) {
      held = Arrays.copyOf(held, 2 * size);
    }
    held[size++] = nanos;
  }

  /** Returns by how much all steps together were longer than as many fast ones, in nanoseconds. */
  long beyondFast() {
    if (count < MIN_STEPS) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(held, size);
    Arrays.sort(sorted);
    // The second shortest, at least: an epoch has at most one odd batch.
    long fast = sorted[Math.max(1, size / FAST)];
    return Math.max(0, sum - count * fast);
  }
}
