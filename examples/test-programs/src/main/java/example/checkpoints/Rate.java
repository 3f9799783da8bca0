package example.checkpoints;

/** How fast a job trains, once it is warm: after a quarter of its time. */
final class Rate {
  private final long start = System.nanoTime();
  private final long nanos;
  private long warm;
  private long steps;
  private boolean over;

  /** A job of so many nanoseconds. */
  Rate(long nanos) {
    this.nanos = nanos;
  }

  /** A step has ended; whether there is another. */
  boolean goesOn() {
    long now = System.nanoTime();
    if (warm == 0 && now - start > nanos / 4) {
      warm = now;
      steps = 0;
    }
    steps++;
    if (!over && now - start > nanos) {
      over = true;
      System.out.printf("rate %.3f steps/s%n", steps * 1e9 / (now - warm));
    }
    return !over;
  }
}
