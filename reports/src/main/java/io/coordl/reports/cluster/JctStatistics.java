package io.coordl.reports.cluster;

import java.util.List;

/**
 * Job completion times in seconds. Quantiles interpolate linearly between order statistics:
 * quantile q of n sorted times is at rank (n - 1) q.
 */
public record JctStatistics(
    int jobs, double meanSeconds, double p50Seconds, double p95Seconds, double p99Seconds) {
  /** Returns the statistics of the jobs; all 0 if there are none. */
  static JctStatistics of(List<JobTime> jobs) {
    double[] sorted = jobs.stream().mapToDouble(JobTime::jctSeconds).sorted().toArray();
    if (sorted.length == 0) {
      return new JctStatistics(0, 0, 0, 0, 0);
    }
    double sum = 0;
    for (double time : sorted) {
      sum += time;
    }
    return new JctStatistics(
        sorted.length,
        sum / sorted.length,
        quantile(sorted, 0.5),
        quantile(sorted, 0.95),
        quantile(sorted, 0.99));
  }

  /** Returns the quantile {@code q}, from 0 to 1, of at least one sorted value. */
  public static double quantile(double[] sorted, double q) {
    double rank = (sorted.length - 1) * q;
    int below = (int) rank;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
  }
}
