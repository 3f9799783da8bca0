package example.training;

import java.util.Locale;

/** Prints one line per epoch: {@code epoch 2: 1.512 s, 396.8 samples/s, loss 0.69314}. */
final class EpochLines {
  private int epoch;
  private long start = System.nanoTime();

  /** Restarts the clock when training begins. */
  void begin() {
    start = System.nanoTime();
  }

  /** Prints the line of the epoch that has just ended; the next one starts now. */
  void endEpoch(long samples, double loss) {
    long now = System.nanoTime();
    double seconds = (now - start) / 1e9;
    epoch++;
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %.3f s, %.1f samples/s, loss %s%n",
        epoch,
        seconds,
        samples / seconds,
        loss);
    start = now;
  }
}
