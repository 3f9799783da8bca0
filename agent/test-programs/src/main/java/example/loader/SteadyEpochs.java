package example.loader;

import java.util.Locale;

/**
 * Prints a line with the samples per second of each epoch, such as {@code epoch 2: 90.52
 * samples/s}. Leaves out the first quarter of an epoch, in which threads refill their queue. Used
 * by the training thread.
 */
final class SteadyEpochs {
  private final long quarter;
  private int epoch;
  private long samples;
  private long skipped;
  private long start;

  /** Creates an instance for epochs of this many samples. */
  SteadyEpochs(long samplesPerEpoch) {
    quarter = samplesPerEpoch / 4;
  }

  /** Records the end of a step with this number of samples. */
  void step(long stepSamples) {
    samples += stepSamples;
    if (skipped == 0 && samples >= quarter) {
      skipped = samples;
      start = System.nanoTime();
    }
  }

  void endEpoch() {
    epoch++;
    System.out.printf(
        Locale.ROOT,
        "epoch %d: %.2f samples/s%n",
        epoch,
        (samples - skipped) / ((System.nanoTime() - start) / 1e9));
    samples = 0;
    skipped = 0;
  }
}
