package io.coordl.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A figure in seconds, such as CPU time, measured in pairs of runs: one without a feature, one with
 * it. The runs of a pair follow each other immediately and alternate in order, so that other load
 * affects both sides equally.
 *
 * @param without figure of each pair's run without the feature
 * @param with figure of each pair's run with it
 */
record Pairs(List<Double> without, List<Double> with) {
  /** A run that returns its figure, in seconds. */
  interface Measured {
    double run() throws IOException, InterruptedException;
  }

  static Pairs measure(String what, int pairs, Measured without, Measured with)
      throws IOException, InterruptedException {
    List<Double> withoutFigures = new ArrayList<>();
    List<Double> withFigures = new ArrayList<>();
    for (int pair = 0; pair < pairs; pair++) {
      if (pair % 2 == 0) {
        withoutFigures.add(without.run());
        withFigures.add(with.run());
      } else {
        withFigures.add(with.run());
        withoutFigures.add(without.run());
      }
      System.out.printf(
          Locale.ROOT,
          "  %s, pair %d of %d: %.3f s without, %.3f s with%n",
          what,
          pair + 1,
          pairs,
          withoutFigures.get(pair),
          withFigures.get(pair));
    }
    return new Pairs(withoutFigures, withFigures);
  }

  static double min(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).min().orElse(Double.NaN);
  }

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int half = sorted.length / 2;
    if (sorted.length == 0) {
      return Double.NaN;
    }
    return sorted.length % 2 == 1
        ? sorted[half]
        : Arrays.stream(sorted, half - 1, half + 1).average().orElse(Double.NaN);
  }

  /** Returns {@code with - without} of each pair. */
  List<Double> differences() {
    List<Double> differences = new ArrayList<>();
    for (int i = 0; i < with.size(); i++) {
      differences.add(with.get(i) - without.get(i));
    }
    return differences;
  }

  /** Returns {@code with / without} of each pair. */
  List<Double> ratios() {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < with.size(); i++) {
      ratios.add(with.get(i) / without.get(i));
    }
    return ratios;
  }
}
