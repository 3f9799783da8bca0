package io.coordl.benchmarks;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * How fast a loader was, by the lines it printed.
 *
 * @param first samples/s of the first epoch
 * @param later median of the epochs after it
 */
record EpochRates(double first, double later) {
  private static final Pattern EPOCH =
      Pattern.compile("^epoch \\d+: [0-9.]+ s, ([0-9.]+) samples/s$", Pattern.MULTILINE);

  /**
   * The rates that {@code out} tells.
   *
   * @throws IllegalStateException if it tells of fewer than two epochs
   */
  static EpochRates of(String out) {
    List<Double> rates =
        EPOCH.matcher(out).results().map((MatchResult r) -> Double.valueOf(r.group(1))).toList();
    if (rates.size() < 2) {
      throw new IllegalStateException(
          "The loader told of " + rates.size() + " epochs, expected 2 or more: " + out);
    }
    return new EpochRates(rates.get(0), Pairs.median(rates.subList(1, rates.size())));
  }
}
