package example.checkpoints;

import java.util.Arrays;

/**
 * How long the steps of a job take, once it is warm: after a quarter of its time. What now and then
 * comes between two of them makes their mean longer and leaves their median as it is, whatever the
 * speed of this very process.
 */
final class Rate {
  private final long start = System.nanoTime();
  private final long nanos;
  private long before = start;
  private long[] steps = new long[1 << 16];
  private int count;
  private boolean over;

  /** A job of so many nanoseconds. */
  Rate(long nanos) {
    this.nanos = nanos;
  }

  /** A step has ended; whether there is another. */
  boolean goesOn() {
    long now = System.nanoTime();
    if (now - start > nanos / 4) {
      if (count == steps.length) {
        steps = Arrays.copyOf(steps, 2 * count);
      }
      steps[count++] = now - before;
    }
    before = now;
    if (!over && now - start > nanos) {
      over = true;
      print();
    }
    return !over;
  }

  private void print() {
    long[] sorted = Arrays.copyOf(steps, count);
    Arrays.sort(sorted);
    double mean = Arrays.stream(sorted).average().orElseThrow();
    System.out.printf(
        "median step %.6f ms, mean %.6f of it%n",
        sorted[count / 2] / 1e6, mean / sorted[count / 2]);
  }
}
