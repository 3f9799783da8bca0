package example.loader;

import java.util.Locale;

/** Prints one line per pass over the data: {@code epoch 2: 0.512 s, 1171.9 samples/s}. */
final class EpochLines {
  private int epoch;
  private long start = System.nanoTime();

  /**
   * A pass that began where the one before ended, or with this object, and made so many samples.
   */
  void ended(int samples) {
    long now = System.nanoTime();
    double seconds = (now - start) / 1e9;
    start = now;
    epoch++;
    System.out.printf(
        Locale.ROOT, "epoch %d: %.3f s, %.1f samples/s%n", epoch, seconds, samples / seconds);
  }
}
