package io.coordl.metrics;

import io.coordl.event.JobStatisticsEvent;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.internal.otlp.metrics.MetricsRequestMarshaler;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.exporter.opentelemetry.otelmodel.MetricDataFactory;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/** OpenTelemetry's protocol over HTTP, in its JSON form, cumulative since the export began. */
final class Otlp implements MetricsExport.Push {
  private static final String PATH = "/v1/metrics";
  private static final String LOCAL = "http://localhost:4318";

  private final URI endpoint;
  private final Map<String, String> headers = new HashMap<>();
  private final String service;
  private final Families families = new Families(System.currentTimeMillis());

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

  /** The first loads the SDK, which wakes the JDK's logging: the program may set that up first. */
  @Override
  public void push(List<Event> events) throws IOException {
    Attributes job =
        Attributes.of(
            AttributeKey.stringKey("service.name"),
            service(events),
            AttributeKey.stringKey("process.pid"),
            Long.toString(ProcessHandle.current().pid()));
    MetricDataFactory factory =
        new MetricDataFactory(
            Resource.create(job),
            InstrumentationScopeInfo.create("io.coordl"),
            System.currentTimeMillis(),
            true);
    List<MetricData> metrics = new ArrayList<>();
    for (MetricSnapshot family : families.of(events)) {
      metrics.add(
          family instanceof CounterSnapshot counter
              ? factory.create(counter)
              : family instanceof GaugeSnapshot gauge
                  ? factory.create(gauge)
                  : factory.create((SummarySnapshot) family));
    }
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    MetricsRequestMarshaler.create(metrics).writeJsonTo(json);
    Post.json(endpoint, json.toByteArray(), headers, null);
  }

  @Override
  public String where() {
    return endpoint.toString();
  }

  private String service(List<Event> events) {
    String program =
        events.stream()
            .filter(JobStatisticsEvent.class::isInstance)
            .map(event -> or(((JobStatisticsEvent) event).mainClass, ""))
            .findFirst()
            .orElse("");
    String name = service.isEmpty() ? program.split(" ", 2)[0] : service;
    return name.isEmpty() ? "unknown_service:java" : name;
  }
}
