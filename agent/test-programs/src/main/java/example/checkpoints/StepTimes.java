package example.checkpoints;

import java.util.Arrays;

/**
 * Durations of a job's steps, recorded once a quarter of its time has passed and the job is warm.
 * Occasional work between two steps raises their mean relative to their median, whatever the speed
 * of this process.
 */
final class StepTimes {
  private final long start = System.nanoTime();
  private final long nanos;
  private long previousEnd = start;
  private long[] steps = new long[1 << 16];
  private int count;
  private boolean isOver;

  /** Creates an instance for a job that runs for {@code nanos} nanoseconds. */
  StepTimes(long nanos) {
    this.nanos = nanos;
  }

  /** Records the end of a step; returns whether to run another. */
  boolean endStep() {
    long now = System.nanoTime();
    if (now - start > nanos / 4) {
      if (count == steps.length) {
        steps = Arrays.copyOf(steps, 2 * count);
      }
      steps[count++] = now - previousEnd;
    }
    previousEnd = now;
    if (!isOver && now - start > nanos) {
      isOver = true;
      print();
    }
    return !isOver;
  }

  private void print() {
    long[] sorted = Arrays.copyOf(steps, count);
    Arrays.sort(sorted);
    double mean = Arrays.stream(sorted).average().orElseThrow();
    System.out.printf(
        "median step %.6f ms, mean %.6f times the median%n",
        sorted[count / 2] / 1e6, mean / sorted[count / 2]);
  }
}
