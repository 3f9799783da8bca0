package io.coordl.telemetry.metrics;

import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static io.opentelemetry.sdk.metrics.data.AggregationTemporality.CUMULATIVE;
import static java.util.Objects.requireNonNullElse;

import io.coordl.telemetry.event.JobStatisticsEvent;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.exporter.internal.otlp.metrics.MetricsRequestMarshaler;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.data.SummaryData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.data.ValueAtQuantile;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableMetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.expositionformats.TextFormatUtil;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Sends metrics by OpenTelemetry's protocol over HTTP; values are cumulative since the job began.
 */
final class Otlp implements MetricsExport.Push {
  private static final String PATH = "/v1/metrics";
  private static final String LOCAL = "http://localhost:4318";

  private final URI endpoint;
  private final Map<String, String> headers = new HashMap<>();
  private final String service;
  private final long since = now();

  /**
   * @param address empty to use the environment's address or, if it has none, this host
   * @param environment returns the value of a variable, null if it is not set
   */
  Otlp(String address, UnaryOperator<@Nullable String> environment) {
    endpoint = endpoint(address, environment);
    service = requireNonNullElse(environment.apply("OTEL_SERVICE_NAME"), "");
    headers.put("Content-Type", "application/x-protobuf");
    for (String header :
        requireNonNullElse(environment.apply("OTEL_EXPORTER_OTLP_HEADERS"), "").split(",", -1)) {
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
        address.isEmpty()
            ? requireNonNullElse(environment.apply("OTEL_EXPORTER_OTLP_ENDPOINT"), LOCAL)
            : address;
    URI given = Post.address(base);
    boolean isFullUrl = !address.isEmpty() && !List.of("", "/").contains(given.getPath());
    return isFullUrl ? given : Post.address(base.replaceFirst("/+$", "") + PATH);
  }

  /**
   * Sends the totals. The first call loads the SDK: loading it earlier would initialize the JDK's
   * logging, which the program may have to configure first.
   */
  @Override
  public void push(List<Event> events) throws IOException {
    String pid = Long.toString(ProcessHandle.current().pid());
    Resource job =
        Resource.create(
            Attributes.of(
                stringKey("service.name"), service(events), stringKey("process.pid"), pid));
    InstrumentationScopeInfo scope = InstrumentationScopeInfo.create("io.coordl");
    long now = now();
    List<MetricData> metrics =
        TextFormatUtil.mergeDuplicates(Families.of(events)).stream()
            .map(family -> metric(family, job, scope, now))
            .toList();
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    MetricsRequestMarshaler.create(metrics).writeBinaryTo(request);
    Post.send(endpoint, request.toByteArray(), headers, null);
  }

  private MetricData metric(
      MetricSnapshot family, Resource job, InstrumentationScopeInfo scope, long now) {
    String name = family.getMetadata().getOriginalName();
    String help = family.getMetadata().getHelp();
    String unit = name.contains("_seconds") ? "s" : name.contains("_bytes") ? "By" : "";
    if (family instanceof SummarySnapshot summary) {
      List<SummaryPointData> points =
          summary.getDataPoints().stream().map(point -> summary(point, now)).toList();
      return ImmutableMetricData.createDoubleSummary(
          job, scope, name, help, unit, SummaryData.create(points));
    } else if (family instanceof CounterSnapshot counter) {
      List<DoublePointData> points =
          counter.getDataPoints().stream().map(at -> point(at, at.getValue(), now)).toList();
      return ImmutableMetricData.createDoubleSum(
          job, scope, name, help, unit, SumData.createDoubleSumData(true, CUMULATIVE, points));
    }
    List<DoublePointData> points =
        ((GaugeSnapshot) family)
            .getDataPoints().stream().map(at -> point(at, at.getValue(), now)).toList();
    return ImmutableMetricData.createDoubleGauge(
        job, scope, name, help, unit, GaugeData.createDoubleGaugeData(points));
  }

  private SummaryPointData summary(SummaryDataPointSnapshot point, long now) {
    List<ValueAtQuantile> values = new ArrayList<>();
    for (Quantile each : point.getQuantiles()) {
      values.add(ValueAtQuantile.create(each.getQuantile(), each.getValue()));
    }
    return SummaryPointData.create(
        since, now, Attributes.empty(), point.getCount(), point.getSum(), values);
  }

  private DoublePointData point(DataPointSnapshot point, double value, long now) {
    AttributesBuilder labels = Attributes.builder();
    point.getLabels().forEach(label -> labels.put(label.getName(), label.getValue()));
    return DoublePointData.create(since, now, labels.build(), value, List.of());
  }

  @Override
  public String where() {
    return endpoint.toString();
  }

  private String service(List<Event> events) {
    String name = service;
    for (Event event : events) {
      if (name.isEmpty() && event instanceof JobStatisticsEvent job) {
        name = requireNonNullElse(job.mainClass, "").split(" ", 2)[0];
      }
    }
    return name.isEmpty() ? "unknown_service:java" : name;
  }

  private static long now() {
    return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
  }
}
