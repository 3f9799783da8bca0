package io.coordl.telemetry.attribution;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Durations of one epoch's steps, to tell disturbed steps from undisturbed ones: a collection, a
 * wait for a core, cold caches or cold code make some steps longer, but hardly ever all of them.
 * Holds a random sample of {@value #MAX_HELD} durations if there are more. Used by one thread at a
 * time.
 */
final class StepTimes {
  /** One step in this many counts as fast. */
  private static final int FAST = 10;

  /**
   * With fewer steps, the fast ones may be those of an odd batch, such as an epoch's smaller last
   * one.
   */
  private static final int MIN_STEPS = 8;

  private static final int MAX_HELD = 1024;

  private final SplittableRandom random = new SplittableRandom(1);
  private long[] held = new long[16];
  private long sum;
  private long count;

  void add(long nanos) {
    long place = count < MAX_HELD ? count : random.nextLong(count + 1);
    if (place == held.length && place < MAX_HELD) {
      held = Arrays.copyOf(held, 2 * held.length);
    }
    if (place < MAX_HELD) {
      held[(int) place] = nanos;
    }
    sum += nanos;
    count++;
  }

  /** Returns by how much all steps together were longer than as many fast ones, in nanoseconds. */
  long beyondFast() {
    if (count < MIN_STEPS) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(held, (int) Math.min(count, MAX_HELD));
    Arrays.sort(sorted);
    // The second shortest, at least: an epoch has at most one odd batch.
    long fast = sorted[Math.max(1, sorted.length / FAST)];
    return Math.max(0, sum - count * fast);
  }
}
