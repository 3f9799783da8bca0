package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Epochs of a training program, from its output.
 *
 * @param rate samples/s, the median of the measured epochs
 * @param losses loss of every epoch, as printed
 */
record TrainingEpochs(double rate, List<String> losses) {
  private static final Pattern EPOCH =
      Pattern.compile(
          "^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s, loss (\\S+)$", Pattern.MULTILINE);

  /**
   * Parses a program's output.
   *
   * @param first first epoch to measure; in earlier ones the agent tries settings and fills its
   *     stores
   * @throws IllegalStateException if the output has fewer epochs
   */
  static TrainingEpochs of(String out, int first) {
    List<MatchResult> epochs = EPOCH.matcher(out).results().toList();
    if (epochs.size() < first) {
      throw new IllegalStateException(
          "The program printed "
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
