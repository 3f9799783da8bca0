package io.coordl.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The result of following the advice for one program. The bars: measured speed-ups do not exceed
 * the predicted bounds, the bounds are not so loose as to be useless, and the job ends up nearly as
 * fast as with the best manual settings.
 *
 * @param steps one for each piece of advice that was followed
 * @param speedOverBest final speed relative to the speed with the best manual settings; 1 if the
 *     advice led to those settings
 */
record AdviceBars(String program, List<Step> steps, double speedOverBest) {
  private static final double MEDIAN_BAR = 1.25;
  private static final double BEST_BAR = 0.9;

  /**
   * One piece of advice that was followed.
   *
   * @param bound predicted upper bound of the speed-up
   * @param ratios measured speed-up in each pair of runs
   * @param withoutEffect what the agent logged about arguments that had no effect; empty if none
   */
  record Step(String arguments, double bound, List<Double> ratios, List<String> withoutEffect) {
    double measured() {
      return Pairs.median(ratios);
    }

    /**
     * Returns the lower end of the 95 % confidence interval of the speed-up, computed on
     * logarithms; for a single pair, its ratio.
     */
    double low() {
      Interval logarithms = Interval.of(ratios.stream().map(Math::log).toList());
      return Math.exp(
          logarithms.mean() - (Double.isNaN(logarithms.halfWidth()) ? 0 : logarithms.halfWidth()));
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%s: predicted at most %.2f, measured %.2f (lower end %.2f)",
          arguments,
          bound,
          measured(),
          low());
    }
  }

  /** Returns the bars that this program misses, each with its figures. */
  List<String> missed() {
    List<String> missed = new ArrayList<>();
    for (Step step : steps) {
      if (step.low() > step.bound) {
        missed.add(program + ", " + step + ": more than its bound");
      }
      step.withoutEffect.forEach(line -> missed.add(program + ": advised, but " + line));
    }
    if (speedOverBest < BEST_BAR) {
      missed.add(
          String.format(
              Locale.ROOT, "%s: ends at %.2f of the best manual speed", program, speedOverBest));
    }
    return missed;
  }

  /** Returns the median of predicted bound / measured speed-up over all advice. */
  static double looseness(List<AdviceBars> all) {
    return Pairs.median(
        all.stream()
            .flatMap(one -> one.steps.stream())
            .map(step -> step.bound / step.measured())
            .toList());
  }

  /** Returns the bars missed by single programs, and by all programs together. */
  static List<String> missed(List<AdviceBars> all) {
    List<String> missed = new ArrayList<>();
    all.forEach(one -> missed.addAll(one.missed()));
    double looseness = looseness(all);
    if (looseness > MEDIAN_BAR) {
      missed.add(
          String.format(
              Locale.ROOT,
              "in the median, a bound is %.2f times the measured speed-up",
              looseness));
    }
    return missed;
  }
}
