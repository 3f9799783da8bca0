package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Timing;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The scaling of preparation with threads: a sample takes a + b / k with k threads (Amdahl's law);
 * the threads share b, but not a. For small k the rate is nearly linear; it never exceeds 1 / a.
 *
 * @param thread time of a sample on one thread, a + b, in nanoseconds
 * @param serialShare a / (a + b)
 */
record PrepScaling(Measure thread, Measure serialShare) {

  /**
   * Fits the law by least squares to the measurements with at most as many threads as cores. The
   * largest deviation of a measured point adds to the error.
   *
   * @param alone preparation alone, one timing per number of threads
   * @param cores 0 if unknown
   */
  static Optional<PrepScaling> of(List<Timing> alone, long cores) {
    List<Timing> within =
        alone.stream().filter(timing -> cores == 0 || timing.threads() <= cores).toList();
    if (within.isEmpty()) {
      return Optional.empty();
    }
    Measure[] times = within.stream().map(timing -> timing.nanos(true)).toArray(Measure[]::new);
    double[] inverse =
        within.stream().mapToDouble(timing -> 1.0 / Math.max(1, timing.threads())).toArray();
    if (times.length == 1) {
      // One measurement does not show the shape: assume linear scaling.
      return Optional.of(new PrepScaling(times[0].times(1 / inverse[0]), Measure.exact(0)));
    }
    Line fitted = fit(Arrays.stream(times).mapToDouble(Measure::value).toArray(), inverse);
    double residual = 0;
    for (int i = 0; i < times.length; i++) {
      double expected = fitted.intercept + fitted.slope * inverse[i];
      residual = Math.max(residual, Math.abs(expected / times[i].value() - 1));
    }
    Measure thread = Measure.of(at -> fit(at, inverse).thread(), times);
    return Optional.of(
        new PrepScaling(
            new Measure(thread.value(), Math.hypot(thread.error(), residual * thread.value())),
            Measure.of(at -> fit(at, inverse).intercept / fit(at, inverse).thread(), times)));
  }

  /** A sample's time as a linear function of 1 / threads. */
  private record Line(double intercept, double slope) {
    double thread() {
      return intercept + slope;
    }
  }

  /** Fits a line without negative coefficients; weighs deviations relative to the time. */
  private static Line fit(double[] times, double[] inverse) {
    double weights = 0;
    double x = 0;
    double y = 0;
    double xx = 0;
    double xy = 0;
    for (int i = 0; i < times.length; i++) {
      double weight = 1 / (times[i] * times[i]);
      weights += weight;
      x += weight * inverse[i];
      y += weight * times[i];
      xx += weight * inverse[i] * inverse[i];
      xy += weight * inverse[i] * times[i];
    }
    double slope = (weights * xy - x * y) / (weights * xx - x * x);
    double intercept = (y - slope * x) / weights;
    if (slope < 0) {
      return new Line(y / weights, 0);
    }
    return intercept < 0 ? new Line(0, xy / xx) : new Line(intercept, slope);
  }
}
