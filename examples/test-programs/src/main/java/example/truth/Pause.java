package example.truth;

/** Sleeping, as a stand-in for work of a known length. */
final class Pause {
  private Pause() {}

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
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      try {
        Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
