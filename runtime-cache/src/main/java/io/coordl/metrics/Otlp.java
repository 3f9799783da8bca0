package io.coordl.metrics;

import io.coordl.event.JobStatisticsEvent;
import io.coordl.metrics.Family.Point;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/** OpenTelemetry's protocol over HTTP, in its JSON form, cumulative since the export began. */
final class Otlp implements MetricsExport.Push {
  private static final String PATH = "/v1/metrics";
  private static final String LOCAL = "http://localhost:4318";
  private static final int CUMULATIVE = 2;

  private final URI endpoint;
  private final Map<String, String> headers = new HashMap<>();
  private final String service;
  private final String since = now();

  /**
   * @param address empty for what the environment says, else for this host
   * @param environment its variables, null for those that are not set
   */
  Otlp(String address, UnaryOperator<@Nullable String> environment) {
    endpoint = endpoint(address, environment);
    service = or(environment.apply("OTEL_SERVICE_NAME"), "");
    for (String header : or(environment.apply("OTEL_EXPORTER_OTLP_HEADERS"), "").split(",", -1)) {
      int equals = header.indexOf('=');
      if (equals > 0) {
        String value = header.substring(equals + 1).trim();
        headers.put(
            header.substring(0, equals).trim(),
            URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8));
      }
    }
  }

  private static URI endpoint(String address, UnaryOperator<@Nullable String> environment) {
    String metrics = environment.apply("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
    if (address.isEmpty() && metrics != null) {
      return Post.address(metrics);
    }
    String base =
        address.isEmpty() ? or(environment.apply("OTEL_EXPORTER_OTLP_ENDPOINT"), LOCAL) : address;
    URI given = Post.address(base);
    boolean whole = !address.isEmpty() && !List.of("", "/").contains(given.getPath());
    return whole ? given : Post.address(base.replaceFirst("/+$", "") + PATH);
  }

  private static String or(@Nullable String value, String otherwise) {
    return value == null ? otherwise : value;
  }

  @Override
  public void push(List<Event> events) throws IOException {
    Post.json(endpoint, json(events), headers, null);
  }

  @Override
  public String where() {
    return endpoint.toString();
  }

  String json(List<Event> events) {
    String now = now();
    List<Object> metrics = new ArrayList<>();
    for (Family family : Family.of(events)) {
      List<Object> points =
          family.points().stream()
              .map(point -> point(point, now, family.unit().equals("s")))
              .toList();
      Map<String, Object> data = new LinkedHashMap<>();
      data.put("dataPoints", points);
      if (family.kind() == Family.Kind.counter) {
        data.put("aggregationTemporality", CUMULATIVE);
        data.put("isMonotonic", true);
      }
      String form = family.kind() == Family.Kind.counter ? "sum" : family.kind().name();
      metrics.add(
          Map.of(
              "name",
              family.name(),
              "description",
              family.help(),
              "unit",
              family.unit(),
              form,
              data));
    }
    Object scope = Map.of("scope", Map.of("name", "io.coordl"), "metrics", metrics);
    Object job = Map.of("resource", Map.of("attributes", resource(events)));
    Map<Object, Object> resource = new LinkedHashMap<>((Map<?, ?>) job);
    resource.put("scopeMetrics", List.of(scope));
    return Json.of(Map.of("resourceMetrics", List.of(resource)));
  }

  private List<Object> resource(List<Event> events) {
    String program =
        events.stream()
            .filter(JobStatisticsEvent.class::isInstance)
            .map(event -> or(((JobStatisticsEvent) event).mainClass, ""))
            .findFirst()
            .orElse("");
    String name = service.isEmpty() ? program.split(" ", 2)[0] : service;
    return List.of(
        attribute("service.name", name.isEmpty() ? "unknown_service:java" : name),
        attribute("process.pid", Long.toString(ProcessHandle.current().pid())));
  }

  private static Object attribute(String key, String value) {
    return Map.of("key", key, "value", Map.of("stringValue", value));
  }

  /** Whole numbers of 64 bits are strings in this form of JSON. */
  private Object point(Point point, String now, boolean isTime) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("startTimeUnixNano", since);
    json.put("timeUnixNano", now);
    if (!point.label().isEmpty()) {
      json.put("attributes", List.of(attribute(point.key(), point.value())));
    }
    if (!point.quantiles().isEmpty()) {
      json.put("count", Long.toString(point.count()));
      json.put("sum", raw(point.number()));
      json.put(
          "quantileValues",
          point.quantiles().entrySet().stream()
              .map(each -> Map.of("quantile", raw(each.getKey()), "value", raw(each.getValue())))
              .toList());
    } else if (!isTime && point.number().indexOf('.') < 0) {
      json.put("asInt", point.number());
    } else {
      json.put("asDouble", raw(point.number()));
    }
    return json;
  }

  private static Object raw(String number) {
    return new BigDecimal(number);
  }

  private static String now() {
    return Long.toString(TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()));
  }
}
