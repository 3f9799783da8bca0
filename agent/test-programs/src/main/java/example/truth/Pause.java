package example.truth;

/** Sleeping, as a stand-in for work of a known length. */
final class Pause {
  /** A thread that was stopped for longer than this has lost the time, as any program would. */
  private static final long MOST_NANOS = 150_000_000;

  /** How much longer than it was to be the last pause of a thread was. */
  private static final ThreadLocal<long[]> OVERSLEPT = ThreadLocal.withInitial(() -> new long[1]);

  private Pause() {}

  /**
   * {@link System#nanoTime} as it were if this thread had woken from its last pause in time: sleeps
   * end half a millisecond late, and later while somebody else has the processor, which adds up to
   * several percent of a program that counts on them. Each lateness is taken off once.
   */
  static long now() {
    long[] overslept = OVERSLEPT.get();
    long now = System.nanoTime() - overslept[0];
    overslept[0] = 0;
    return now;
  }

  /**
   * Returns when {@code millis} have passed by {@link System#nanoTime}, never before; at once if
   * the thread is interrupted, which stays so: DL4J interrupts a prefetch whose result it throws
   * away.
   */
  static void millis(long millis) {
    until(System.nanoTime() + millis * 1_000_000);
  }

  /** As above, when {@link System#nanoTime} is {@code end}. */
  static void until(long end) {
    long left;
    while ((left = end - System.nanoTime()) > 0) {
      try {
        Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    OVERSLEPT.get()[0] = Math.min(-left, MOST_NANOS);
  }
}
