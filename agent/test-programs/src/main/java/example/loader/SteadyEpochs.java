package example.loader;

import java.util.Locale;

/**
 * Prints the samples per second of each epoch without its first quarter, in which threads refill
 * their queue: {@code epoch 2: 90.52 samples/s}. Used by the training thread.
 */
final class SteadyEpochs {
  private final long quarter;
  private int epoch;
  private long samples;
  private long before;
  private long start;

  /** Creates an instance for epochs of this many samples. */
  SteadyEpochs(long samplesOfAnEpoch) {
    quarter = samplesOfAnEpoch / 4;
  }

  /** Records the end of a step with this number of samples. */
  void step(long samplesOfTheStep) {
    samples += samplesOfTheStep;
    if (before == 0 && samples >= quarter) {
      before = samples;
      start = System.nanoTime();
    }
  }

  void ended() {
    epoch++;
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %.2f samples/s%n",
        epoch,
        (samples - before) / ((System.nanoTime() - start) / 1e9));
    samples = 0;
    before = 0;
  }
}
