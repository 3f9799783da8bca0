package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * What a training program printed of its epochs.
 *
 * @param rate samples/s, the median of the epochs that count
 * @param losses of every epoch, as they were printed
 */
record TrainingEpochs(double rate, List<String> losses) {
  private static final Pattern EPOCH =
      Pattern.compile(
          "^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s, loss (\\S+)$", Pattern.MULTILINE);

  /**
   * The epochs that {@code out} tells of.
   *
   * @param first the first that counts: in those before it, things are found out and kept
   * @throws IllegalStateException if it tells of fewer
   */
  static TrainingEpochs of(String out, int first) {
    List<MatchResult> epochs = EPOCH.matcher(out).results().toList();
    if (epochs.size() < first) {
      throw new IllegalStateException(
          "The program told of "
              + epochs.size()
              + " epochs, expected "
              + first
              + " or more: "
              + out);
    }
    return new TrainingEpochs(
        Pairs.median(
            epochs.stream().skip(first - 1).map(epoch -> Double.valueOf(epoch.group(1))).toList()),
        epochs.stream().map(epoch -> epoch.group(2)).toList());
  }
}
