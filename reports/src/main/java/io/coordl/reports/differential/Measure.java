package io.coordl.reports.differential;

import io.coordl.advice.Student;
import io.coordl.advice.Text;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/**
 * A measured figure, or one computed from measured figures.
 *
 * @param value the best estimate; the context defines the unit
 * @param error half the width of the 95 % confidence interval, in the same unit, never negative
 */
public record Measure(double value, double error) {

  public Measure {
    if (!Double.isFinite(value) || !Double.isFinite(error) || error < 0) {
      throw new IllegalArgumentException("no figure: " + value + " ± " + error);
    }
  }

  /** A figure without error, because it was counted or chosen. */
  public static Measure exact(double value) {
    return new Measure(value, 0);
  }

  /**
   * The mean of at least two measurements, with its confidence interval by Student's distribution.
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
   * A figure computed from others whose errors are independent. Each input is moved to either end
   * of its interval while the others stay; the larger change counts, and the changes add in
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

  /** Formats the figure with its significant digits. */
  public String text() {
    String digits = value >= 100 ? "%,.0f" : value >= 10 ? "%,.1f" : "%,.2f";
    return Text.format(digits + " ± " + digits, value, error);
  }

  public Measure plus(Measure other) {
    return new Measure(value + other.value, Math.hypot(error, other.error));
  }

  public Measure minus(Measure other) {
    return new Measure(value - other.value, Math.hypot(error, other.error));
  }

  /** This figure in another unit. */
  public Measure times(double factor) {
    return new Measure(value * factor, error * Math.abs(factor));
  }

  /** Clips a difference that cannot be negative. */
  public Measure atLeastZero() {
    return value >= 0 ? this : new Measure(0, error);
  }

  /** True if the figure is larger than its error. */
  public boolean exceedsItsError() {
    return value > error;
  }

  /** The rate per second of something that takes this time in nanoseconds. */
  public Measure perSecond() {
    return new Measure(1e9 / value, 1e9 / value * (error / value));
  }
}
