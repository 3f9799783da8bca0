package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Epochs of a training program, from its output.
 *
 * @param rate samples/s, the median from the third epoch on
 * @param losses of every epoch, as they were printed
 */
record TrainingEpochs(double rate, List<String> losses) {
  /** Earlier epochs do not count: in them the agent tries settings and fills its stores. */
  private static final int FIRST = 3;

  private static final Pattern EPOCH =
      Pattern.compile(
          "^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s, loss (\\S+)$", Pattern.MULTILINE);

  /**
   * Parses a program's output.
   *
   * @throws IllegalStateException if it has fewer than three epochs
   */
  static TrainingEpochs of(String out) {
    List<MatchResult> epochs = EPOCH.matcher(out).results().toList();
    if (epochs.size() < FIRST) {
      throw new IllegalStateException(
          "The program printed "
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
