package io.coordl.reports.page;

import io.coordl.telemetry.event.LatencyStatisticsEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Durations of the spans of one kind, by percentile.
 *
 * @param exact true if the points show the whole distribution; false if the recording contains only
 *     a few percentiles
 * @param points by ascending percentile, 0 to 100
 */
record LatencyCurve(String kind, boolean exact, List<Point> points) {
  private static final List<Double> PERCENTILES =
      List.of(
          0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75,
          99.9, 99.95, 99.99, 99.995, 99.999, 100.0);

  record Point(double percentile, long nanos) {}

  static LatencyCurve of(LatencyStatisticsEvent latency) {
    String kind = String.valueOf(latency.kind);
    Histogram histogram = histogram(latency.histogram);
    if (histogram == null || histogram.getTotalCount() != latency.count) {
      return new LatencyCurve(
          kind,
          false,
          List.of(
              new Point(0, latency.minimum),
              new Point(50, latency.p50),
              new Point(90, latency.p90),
              new Point(99, latency.p99),
              new Point(99.9, latency.p999),
              new Point(100, latency.maximum)));
    }
    List<Point> points = new ArrayList<>();
    for (double percentile : PERCENTILES) {
      // Skip a percentile with less than one span above it: it would only repeat the maximum.
      if (percentile == 100 || Math.rint((100 - percentile) * 1_000) * latency.count >= 1e5) {
        points.add(new Point(percentile, nanos(histogram, percentile)));
      }
    }
    return new LatencyCurve(kind, true, points);
  }

  private static long nanos(Histogram histogram, double percentile) {
    return percentile == 0
        ? histogram.getMinValue()
        : percentile == 100 ? histogram.getMaxValue() : histogram.getValueAtPercentile(percentile);
  }

  /** Decodes the distribution that the agent wrote; returns null if it is not an HdrHistogram. */
  private static @Nullable Histogram histogram(@Nullable String base64) {
    if (base64 == null) {
      return null;
    }
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(base64)), 0);
    } catch (DataFormatException | RuntimeException e) {
      // The decoder has no exception of its own for invalid bytes.
      return null;
    }
  }
}
