package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Rates of a loader, from its output.
 *
 * @param first samples/s of the first epoch
 * @param later samples/s, median of the later epochs
 * @param perCpu samples per CPU second, median of the later epochs
 */
record EpochRates(double first, double later, double perCpu) {
  private static final Pattern EPOCH =
      Pattern.compile(
          "^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s, ([0-9.]+) per CPU s$", Pattern.MULTILINE);

  /**
   * Parses a loader's output.
   *
   * @throws IllegalStateException if it has fewer than two epochs
   */
  static EpochRates of(String out) {
    List<MatchResult> epochs = EPOCH.matcher(out).results().toList();
    if (epochs.size() < 2) {
      throw new IllegalStateException(
          "The loader printed " + epochs.size() + " epochs, expected 2 or more: " + out);
    }
    List<MatchResult> later = epochs.subList(1, epochs.size());
    return new EpochRates(
        Double.parseDouble(epochs.get(0).group(1)), median(later, 1), median(later, 2));
  }

  private static double median(List<MatchResult> epochs, int group) {
    return Pairs.median(epochs.stream().map(epoch -> Double.valueOf(epoch.group(group))).toList());
  }
}
