package io.coordl.profile;

/**
 * Finds where the steady state of a series begins: at the truncation that minimizes the standard
 * error of the mean of the remaining values (MSER; K. P. White, An effective truncation heuristic
 * for bias reduction in simulation output, Simulation 69(6), 1997). It needs no threshold, and
 * shows when a series is not yet steady: then the best truncation lies in its second half.
 */
final class SteadyState {
  /** Values are averaged in groups of five (MSER-5), which smooths alternating values. */
  static final int GROUP = 5;

  private SteadyState() {}

  /** Returns the number of values before the steady state; -1 if there is none yet. */
  static int begin(double[] values) {
    int groups = values.length / GROUP;
    if (groups < 2) {
      return -1;
    }
    double sum = 0;
    double squares = 0;
    double smallest = Double.POSITIVE_INFINITY;
    int best = 0;
    for (int first = groups - 1; first >= 0; first--) {
      double mean = 0;
      for (int i = 0; i < GROUP; i++) {
        mean += values[first * GROUP + i] / GROUP;
      }
      sum += mean;
      squares += mean * mean;
      int remaining = groups - first;
      // The last few always look steady.
      if (remaining >= Math.max(2, groups / 10)) {
        double spread = Math.max(0, squares - sum * sum / remaining);
        double error = spread / ((double) remaining * remaining);
        if (error <= smallest) {
          smallest = error;
          best = first;
        }
      }
    }
    return best > groups / 2 ? -1 : best * GROUP;
  }
}
