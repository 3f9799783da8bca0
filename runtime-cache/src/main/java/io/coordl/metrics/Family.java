package io.coordl.metrics;

import io.coordl.event.AgentEvents;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.Metric;
import io.coordl.event.StoreStatisticsEvent;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Timespan;

/**
 * The points of one name, as they are now.
 *
 * @param unit {@code s}, {@code By}, or {@code 1}: as in UCUM
 */
record Family(String name, Kind kind, String help, String unit, List<Point> points) {
  /** Durations of which there is a summary; times of the others are counters. */
  private static final Set<String> SUMMARIES =
      Set.of("fetch", "decode", "transform", "batch", "step");

  enum Kind {
    counter,
    gauge,
    summary
  }

  /**
   * @param label {@code cause=fetch}; empty if the name says it all
   * @param number in decimal digits, exact
   * @param quantiles by their rank, of a summary, whose number is the sum
   */
  record Point(String label, String number, long count, Map<String, String> quantiles) {
    String key() {
      return label.substring(0, label.indexOf('='));
    }

    String value() {
      return label.substring(label.indexOf('=') + 1);
    }
  }

  /** What the events of a job say, in their order. */
  static Collection<Family> of(List<Event> events) {
    Map<String, Family> families = new LinkedHashMap<>();
    for (Event event : events) {
      if (event instanceof LatencyStatisticsEvent durations) {
        summary(families, durations);
        continue;
      }
      for (Field field : AgentEvents.fields(event.getClass())) {
        Metric metric = field.getAnnotation(Metric.class);
        if (metric != null) {
          figure(families, event, field, metric);
        }
      }
    }
    return families.values();
  }

  private static void figure(
      Map<String, Family> families, Event event, Field field, Metric metric) {
    boolean time = field.isAnnotationPresent(Timespan.class);
    long value;
    try {
      value = field.getLong(event);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    if (value == 0 && metric.absentIfZero()) {
      return;
    }
    String label =
        event instanceof StoreStatisticsEvent store ? "store=" + store.store : metric.label();
    String help =
        metric.help().isEmpty() ? field.getAnnotation(Description.class).value() : metric.help();
    families
        .computeIfAbsent(
            metric.value(),
            name ->
                new Family(
                    name,
                    name.endsWith("_total") ? Kind.counter : Kind.gauge,
                    help,
                    time ? "s" : name.contains("bytes") ? "By" : "1",
                    new ArrayList<>()))
        .points()
        .add(new Point(label, time ? seconds(value) : Long.toString(value), 0, Map.of()));
  }

  private static void summary(Map<String, Family> families, LatencyStatisticsEvent durations) {
    String kind = String.valueOf(durations.kind);
    if (!SUMMARIES.contains(kind)) {
      return;
    }
    Map<String, String> quantiles = new LinkedHashMap<>();
    quantiles.put("0.5", seconds(durations.p50));
    quantiles.put("0.9", seconds(durations.p90));
    quantiles.put("0.99", seconds(durations.p99));
    String name = "coordl_" + kind + "_seconds";
    families.put(
        name,
        new Family(
            name,
            Kind.summary,
            "How long one " + kind + " takes",
            "s",
            List.of(new Point("", seconds(durations.total), durations.count, quantiles))));
  }

  private static String seconds(long nanos) {
    return BigDecimal.valueOf(nanos, 9).stripTrailingZeros().toPlainString();
  }
}
