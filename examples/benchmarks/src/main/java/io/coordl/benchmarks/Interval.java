package io.coordl.benchmarks;

import java.util.List;
import java.util.Locale;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.descriptive.SummaryStatistics;

/**
 * A mean and its 95 % confidence interval, by Student's t.
 *
 * @param mean mean of the values
 * @param halfWidth half the interval's width; NaN for fewer than two values
 */
record Interval(double mean, double halfWidth) {
  static Interval of(List<Double> values) {
    SummaryStatistics statistics = new SummaryStatistics();
    values.forEach(statistics::addValue);
    long count = statistics.getN();
    double t =
        count < 2 ? Double.NaN : new TDistribution(count - 1.0).inverseCumulativeProbability(0.975);
    return new Interval(
        statistics.getMean(), t * statistics.getStandardDeviation() / Math.sqrt((double) count));
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%+.2f ± %.2f", mean, halfWidth);
  }
}
