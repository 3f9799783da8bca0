package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * What a training program printed of its epochs.
 *
 * @param rate samples/s, the median from the third epoch on
 * @param losses of every epoch, as they were printed
 */
record TrainingEpochs(double rate, List<String> losses) {
  /** Epochs before it do not count: in them it is found out what to do, and things are kept. */
  private static final int FIRST = 3;

  private static final Pattern EPOCH =
      Pattern.compile(
          "^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s, loss (\\S+)$", Pattern.MULTILINE);

  /**
   * The epochs that {@code out} tells of.
   *
   * @throws IllegalStateException if it tells of fewer than three
   */
  static TrainingEpochs of(String out) {
    List<MatchResult> epochs = EPOCH.matcher(out).results().toList();
    if (epochs.size() < FIRST) {
      throw new IllegalStateException(
          "The program told of "
              + epochs.size()
              + " epochs, expected "
              + FIRST
              + " or more: "
              + out);
    }
    return new TrainingEpochs(
        Pairs.median(
            epochs.stream().skip(FIRST - 1).map(epoch -> Double.valueOf(epoch.group(1))).toList()),
        epochs.stream().map(epoch -> epoch.group(2)).toList());
  }
}
