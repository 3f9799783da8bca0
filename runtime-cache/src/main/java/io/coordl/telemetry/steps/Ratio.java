package io.coordl.telemetry.steps;

import io.coordl.telemetry.advice.Student;
import io.coordl.telemetry.advice.Text;
import java.util.Arrays;

/**
 * The ratio of two means, with a 95 % confidence interval that is computed for the logarithm and so
 * stays positive.
 */
public record Ratio(double value, double low, double high) {
  /** Bound on half the width of the logarithm's interval; a wider one carries no information. */
  private static final double MAX_HALF_WIDTH = 20;

  /** Returns the ratio of two independent, positive means. */
  public static Ratio of(StepMean above, StepMean below) {
    return welch(
        Math.log(above.value() / below.value()),
        above.error() / above.value(),
        above.freedom(),
        below.error() / below.value(),
        below.freedom());
  }

  /**
   * Returns the ratio of the geometric means of two sides with at least three runs in all. A single
   * run on one side is assumed to vary like the runs on the other.
   */
  public static Ratio ofRuns(double[] above, double[] below) {
    double[] one = Arrays.stream(above).map(Math::log).toArray();
    double[] other = Arrays.stream(below).map(Math::log).toArray();
    double logarithm = mean(one) - mean(other);
    if (one.length == 1 || other.length == 1) {
      StepMean several = StepMean.ofRuns(one.length == 1 ? other : one);
      double ofOne = several.error() * Math.sqrt(several.freedom() + 1.0);
      return of(logarithm, Math.hypot(several.error(), ofOne), several.freedom());
    }
    StepMean first = StepMean.ofRuns(one);
    StepMean second = StepMean.ofRuns(other);
    return welch(logarithm, first.error(), first.freedom(), second.error(), second.freedom());
  }

  /** Allows errors of different sizes and degrees of freedom (B. L. Welch, Biometrika 34, 1947). */
  private static Ratio welch(
      double logarithm, double one, int freedomOfOne, double other, int freedomOfOther) {
    double squares = one * one + other * other;
    double freedom =
        squares == 0
            ? Integer.MAX_VALUE
            : squares
                * squares
                / (Math.pow(one, 4) / freedomOfOne + Math.pow(other, 4) / freedomOfOther);
    return of(logarithm, Math.sqrt(squares), (int) Math.max(1, freedom));
  }

  private static Ratio of(double logarithm, double error, int freedom) {
    double half = Math.min(MAX_HALF_WIDTH, Student.t(freedom) * error);
    return new Ratio(Math.exp(logarithm), Math.exp(logarithm - half), Math.exp(logarithm + half));
  }

  /** Returns the product with a ratio whose error is independent of this one's. */
  public Ratio times(Ratio other) {
    double product = value * other.value;
    double below = Math.hypot(Math.log(value / low), Math.log(other.value / other.low));
    double above = Math.hypot(Math.log(high / value), Math.log(other.high / other.value));
    return new Ratio(product, product * Math.exp(-below), product * Math.exp(above));
  }

  /** Returns this ratio to a power other than 0. */
  public Ratio power(double exponent) {
    double one = Math.pow(low, exponent);
    double other = Math.pow(high, exponent);
    return new Ratio(Math.pow(value, exponent), Math.min(one, other), Math.max(one, other));
  }

  /** Limits the ratio and its interval to {@code limit}. */
  public Ratio atMost(double limit) {
    return new Ratio(Math.min(limit, value), Math.min(limit, low), Math.min(limit, high));
  }

  /** Returns the range, to follow "the job was" and precede "x as fast". */
  @Override
  public String toString() {
    String from = Text.format("%.2f", low);
    String to = Text.format("%.2f", high);
    return from.equals(to) ? from : from + " to " + to;
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }
}
