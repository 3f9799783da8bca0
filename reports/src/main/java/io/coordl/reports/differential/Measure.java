package io.coordl.reports.differential;

import io.coordl.telemetry.advice.Student;
import io.coordl.telemetry.advice.Text;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/**
 * A measured figure, or one computed from measured figures.
 *
 * @param value the best estimate; the context defines the unit
 * @param error half the width of the 95 % confidence interval, in the same unit, never negative
 */
public record Measure(double value, double error) {
  /**
   * Minimum ratio of value to error for a symmetric interval; below it, the interval is computed
   * for the logarithm.
   */
  private static final double MIN_SYMMETRIC_RATIO = 3;

  /** Bound on the factor from the value to the high end of its interval. */
  private static final double MAX_FACTOR = 1_000;

  public Measure {
    if (!Double.isFinite(value) || !Double.isFinite(error) || error < 0) {
      throw new IllegalArgumentException("no figure: " + value + " ± " + error);
    }
  }

  /** Returns a figure without error, because it was counted or given. */
  public static Measure exact(double value) {
    return new Measure(value, 0);
  }

  /**
   * Returns the mean of at least two measurements, with its confidence interval by Student's
   * distribution.
   */
  public static Measure mean(double[] values) {
    if (values.length < 2) {
      throw new IllegalArgumentException("the spread of fewer than two values is unknown");
    }
    double mean = Arrays.stream(values).average().orElseThrow();
    double squares = Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum();
    int freedom = values.length - 1;
    return new Measure(mean, Student.t(freedom) * Math.sqrt(squares / freedom / values.length));
  }

  /**
   * Computes a figure from others whose errors are independent. Moves each input to both ends of
   * its interval while the others stay, takes the larger change, and adds these changes in
   * quadrature. Unlike derivatives, this is correct if the figure has a kink (a minimum, a bound)
   * within an interval; for a curved figure it overestimates the error.
   *
   * @param figure finite for all inputs within their intervals
   */
  public static Measure of(ToDoubleFunction<double[]> figure, Measure... inputs) {
    double[] values = Arrays.stream(inputs).mapToDouble(Measure::value).toArray();
    double centre = figure.applyAsDouble(values);
    double squares = 0;
    for (int i = 0; i < inputs.length; i++) {
      double change = 0;
      for (double end : new double[] {-inputs[i].error, inputs[i].error}) {
        values[i] = inputs[i].value + end;
        change = Math.max(change, Math.abs(figure.applyAsDouble(values) - centre));
      }
      values[i] = inputs[i].value;
      squares += change * change;
    }
    return new Measure(centre, Math.sqrt(squares));
  }

  /**
   * Formats the figure with its significant digits; shows a large error as a range, which stays
   * positive.
   */
  public String text() {
    return hasSmallError()
        ? Text.format(digits(value) + " ± " + digits(value), value, error)
        : Text.format(
            digits(value) + " (" + digits(low()) + " to " + digits(high()) + ")",
            value,
            low(),
            high());
  }

  private static String digits(double figure) {
    return figure >= 100 ? "%,.0f" : figure >= 10 ? "%,.1f" : "%,.2f";
  }

  /** Returns whether the error is so small that the interval is symmetric about the value. */
  public boolean hasSmallError() {
    return error * MIN_SYMMETRIC_RATIO <= value || error == 0;
  }

  /** Returns the low end of the interval of a figure that cannot be negative. */
  public double low() {
    return hasSmallError() ? value - error : value <= 0 ? 0 : value * Math.exp(-error / value);
  }

  /** Returns the high end of the interval of a figure that cannot be negative. */
  public double high() {
    return hasSmallError() || value <= 0
        ? value + error
        : Math.min(value * Math.exp(error / value), MAX_FACTOR * value);
  }

  public Measure plus(Measure other) {
    return new Measure(value + other.value, Math.hypot(error, other.error));
  }

  public Measure minus(Measure other) {
    return new Measure(value - other.value, Math.hypot(error, other.error));
  }

  /** Returns this figure times an exact factor, for example in another unit. */
  public Measure times(double factor) {
    return new Measure(value * factor, error * Math.abs(factor));
  }

  /** Clips a difference that cannot be negative. */
  public Measure atLeastZero() {
    return value >= 0 ? this : new Measure(0, error);
  }

  /** Returns whether the figure is larger than its error. */
  public boolean exceedsItsError() {
    return value > error;
  }

  /** Returns the rate per second of something that takes this time in nanoseconds. */
  public Measure perSecond() {
    return new Measure(1e9 / value, 1e9 / value * (error / value));
  }
}
