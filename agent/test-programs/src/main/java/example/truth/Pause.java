package example.truth;

/** Sleeps that replace work of known duration. */
final class Pause {
  /** Maximum delay to subtract; any program would lose the rest. */
  private static final long MAX_NANOS = 150_000_000;

  /** Nanoseconds by which a thread's last pause was too long. */
  private static final ThreadLocal<long[]> OVERSLEPT = ThreadLocal.withInitial(() -> new long[1]);

  private Pause() {}

  /**
   * Returns {@link System#nanoTime} as if this thread had woken from its last pause on time. Sleeps
   * end about half a millisecond late, or later on a busy machine, which would add up to several
   * percent. Each delay is subtracted once, by the first call after the pause.
   */
  static long now() {
    long[] overslept = OVERSLEPT.get();
    long now = System.nanoTime() - overslept[0];
    overslept[0] = 0;
    return now;
  }

  /**
   * Sleeps for {@code millis}, measured by {@link System#nanoTime}. If the thread is interrupted,
   * returns immediately and keeps the interrupt status: DL4J interrupts prefetches whose results it
   * discards.
   */
  static void millis(long millis) {
    until(System.nanoTime() + millis * 1_000_000);
  }

  /** Like {@link #millis}, but until {@link System#nanoTime} reaches {@code end}. */
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
    OVERSLEPT.get()[0] = Math.min(-left, MAX_NANOS);
  }
}
