package io.coordl.telemetry.metrics;

import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.Metric;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Set;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Timespan;

/**
 * Converts the events of a job to metrics of Prometheus' client. Their values are doubles: counts
 * are exact, and times up to 97 days are accurate to the nanosecond.
 */
final class Families {
  /**
   * Kinds of durations exported as summaries; the totals of stalls and checkpoints are counters.
   */
  private static final Set<String> SUMMARIES =
      Set.of("fetch", "decode", "transform", "batch", "step");

  private Families() {}

  /** Returns one snapshot for each data point, even if data points share a name. */
  static MetricSnapshots of(List<Event> events) {
    MetricSnapshots.Builder points = MetricSnapshots.builder();
    for (Event event : events) {
      if (event instanceof LatencyStatisticsEvent durations
          && SUMMARIES.contains(String.valueOf(durations.kind))) {
        points.metricSnapshot(summary(durations));
      }
      for (Field field : AgentEvents.fields(event.getClass())) {
        Metric metric = field.getAnnotation(Metric.class);
        long value = metric == null ? 0 : value(event, field);
        if (metric != null && !(value == 0 && metric.absentIfZero())) {
          points.metricSnapshot(figure(event, field, metric, value));
        }
      }
    }
    return points.build();
  }

  private static long value(Event event, Field field) {
    try {
      return field.getLong(event);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static MetricSnapshot figure(Event event, Field field, Metric metric, long value) {
    boolean isTime = field.isAnnotationPresent(Timespan.class);
    String help =
        metric.help().isEmpty() ? field.getAnnotation(Description.class).value() : metric.help();
    MetricMetadata family = new MetricMetadata(metric.value(), help);
    String label =
        event instanceof StoreStatisticsEvent store ? "store=" + store.store : metric.label();
    Labels labels = label.isEmpty() ? Labels.EMPTY : Labels.of(label.split("=", 2));
    double number = isTime ? seconds(value) : value;
    // Negative counts become 0, because the client would reject all points for one of them.
    return metric.value().endsWith("_total")
        ? new CounterSnapshot(
            family, List.of(new CounterDataPointSnapshot(Math.max(0, number), labels, null, 0)))
        : new GaugeSnapshot(family, List.of(new GaugeDataPointSnapshot(number, labels, null)));
  }

  private static MetricSnapshot summary(LatencyStatisticsEvent durations) {
    Quantiles quantiles =
        Quantiles.builder()
            .quantile(0.5, seconds(durations.p50))
            .quantile(0.9, seconds(durations.p90))
            .quantile(0.99, seconds(durations.p99))
            .build();
    return new SummarySnapshot(
        new MetricMetadata(
            "coordl_" + durations.kind + "_seconds", "Duration of one " + durations.kind),
        List.of(
            new SummaryDataPointSnapshot(
                durations.count,
                seconds(durations.total),
                quantiles,
                Labels.EMPTY,
                Exemplars.EMPTY,
                0)));
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
