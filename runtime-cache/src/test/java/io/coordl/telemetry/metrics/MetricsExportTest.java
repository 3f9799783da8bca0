package io.coordl.telemetry.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.coordl.Waits;
import io.coordl.host.AgentThread;
import io.coordl.peers.redis.TestKeys;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint.ValueAtQuantile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Event;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The metrics sent to Prometheus, a collector and Kubeflow, and the messages on failure. */
class MetricsExportTest {
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final BlockingQueue<String> got = new LinkedBlockingQueue<>();
  private final JobStatisticsEvent job = new JobStatisticsEvent();
  private HttpServer collector;

  @TempDir Path folder;

  private List<Event> totals() {
    job.mainClass = "my.Train --name \"a\\b\"";
    job.samples = 1_234_567_890_123L;
    job.wall = 10_000_000_001L;
    job.stall = 4_000_000_000L;
    job.fetchStall = 1_000_000_000L;
    job.prepStall = 3_000_000_000L;
    job.storageItems = 7;
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.store = "raw";
    store.used = 4096;
    LatencyStatisticsEvent steps = new LatencyStatisticsEvent();
    steps.kind = "step";
    steps.count = 3;
    steps.total = 6_000_000_123L;
    steps.p50 = 2_000_000_000L;
    return List.of(job, steps, store);
  }

  private String text() {
    return PrometheusServer.text(Families.of(totals()));
  }

  /** An export that ends with its {@code try} block. */
  private record Export(MetricsExport export) implements AutoCloseable {
    @Override
    public void close() {
      MetricsExport.end(List.of(export));
    }
  }

  private Export start(String target) {
    MetricsExport export =
        new MetricsExport(target, this::totals, logged::add, Duration.ofMinutes(1));
    export.start();
    return new Export(export);
  }

  @AfterEach
  void stop() {
    if (collector != null) {
      collector.stop(0);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    while (true) {
      try {
        return HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      } catch (java.net.ConnectException e) {
        Thread.sleep(10); // The server is not listening yet.
      }
    }
  }

  @Test
  void prometheusGetsExactNamedFigures() {
    assertThat(text().lines())
        .contains(
            "# TYPE coordl_samples_total counter",
            "coordl_samples_total 1.234567890123E12",
            "coordl_wall_seconds_total 10.000000001",
            "# HELP coordl_stall_seconds_total Time the training thread waited for data",
            "coordl_stall_seconds_total{cause=\"fetch\"} 1.0",
            "coordl_stall_seconds_total{cause=\"prep\"} 3.0",
            "coordl_items_total{source=\"storage\"} 7.0",
            "# TYPE coordl_step_seconds summary",
            "coordl_step_seconds{quantile=\"0.5\"} 2.0",
            "coordl_step_seconds_sum 6.000000123",
            "coordl_step_seconds_count 3",
            "# TYPE coordl_store_bytes gauge",
            "coordl_store_bytes{store=\"raw\"} 4096.0")
        .noneMatch(line -> line.contains("eta") || line.contains("planned"))
        .doesNotHaveDuplicates();
    job.plannedEpochs = 30;
    job.timeLeft = 1_500_000_000;
    assertThat(text().lines())
        .contains("coordl_planned_epochs 30.0", "coordl_epoch_eta_seconds 1.5");
  }

  @Test
  void theDashboardUsesExistingNames() throws IOException {
    String metrics = text();
    String dashboard = Files.readString(Path.of("../examples/grafana/coordl.json"));
    assertThat(
            Pattern.compile("\\bcoordl_\\w+").matcher(dashboard).results().map(MatchResult::group))
        .hasSizeGreaterThan(8)
        .allSatisfy(name -> assertThat(metrics).containsPattern("(?m)^" + name + "[ {]"));
  }

  @Test
  void theServerAnswersEvenIfAnotherClientIsSilent() throws Exception {
    int port = freePort();
    try (Export export = start("prometheus:" + port)) {
      assertThat(get(port, "/other").statusCode()).isEqualTo(404);
      try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port)) {
        HttpResponse<String> answer = get(port, "/metrics");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type").orElse(""))
            .startsWith("text/plain; version=0.0.4");
        assertThat(answer.body()).isEqualTo(text());
        assertThat(silent.isConnected()).isTrue();
      }
      try (Export second = start("prometheus:" + port)) {
        while (logged.isEmpty()) {
          Thread.sleep(10);
        }
        assertThat(logged)
            .singleElement()
            .asString()
            .startsWith("metrics=prometheus:" + port + " does nothing: Address already in use")
            .endsWith("each job on a host needs its own port");
        assertThat(get(port, "/metrics").statusCode()).isEqualTo(200);
        assertThat(second).isNotNull();
      }
      assertThat(export).isNotNull();
    }
    new ServerSocket(port).close(); // The port is free again.
  }

  @Test
  void theServerListensOnLoopbackByDefault() {
    assertThat(PrometheusServer.address("9464").toString()).isEqualTo("127.0.0.1:9464");
    assertThat(PrometheusServer.address("0.0.0.0:9464").toString()).isEqualTo("0.0.0.0:9464");
    assertThat(PrometheusServer.address("[::]:9464").toString()).isEqualTo("[::]:9464");
  }

  private int collector(HttpServer server, int status) {
    collector = server;
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
          got.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization")
                  + " "
                  + exchange.getRequestHeaders().getFirst("Content-Type")
                  + " "
                  + body);
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
    return server.getAddress().getPort();
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  @Test
  void aCollectorGetsTheLastTotalsWhenTheJobEnds() throws Exception {
    int port = collector(HttpServer.create(anyPort(), 0), 200);
    start("otlp:http://127.0.0.1:" + port).close();

    String[] request = got.remove().split(" ", 4);
    assertThat(request).startsWith("/v1/metrics", "null", "application/x-protobuf");
    ResourceMetrics sent =
        ExportMetricsServiceRequest.parseFrom(request[3].getBytes(StandardCharsets.ISO_8859_1))
            .getResourceMetrics(0);
    assertThat(sent.getResource().getAttributesList())
        .anyMatch(each -> each.getValue().getStringValue().equals("my.Train"));
    Map<String, Metric> metrics =
        sent.getScopeMetrics(0).getMetricsList().stream()
            .collect(Collectors.toMap(Metric::getName, metric -> metric));
    assertThat(metrics.keySet())
        .containsExactlyInAnyOrderElementsOf(
            text()
                .lines()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ", 4)[2])
                .toList());
    Metric samples = metrics.get("coordl_samples_total");
    assertThat(samples.getUnit()).isEmpty();
    assertThat(samples.getSum().getIsMonotonic()).isTrue();
    assertThat(samples.getSum().getAggregationTemporality())
        .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
    NumberDataPoint point = samples.getSum().getDataPoints(0);
    assertThat(point.getAsDouble()).isEqualTo(1_234_567_890_123L);
    assertThat(point.getStartTimeUnixNano()).isBetween(1L, point.getTimeUnixNano());
    Metric stalls = metrics.get("coordl_stall_seconds_total");
    assertThat(stalls.getDescription()).isEqualTo("Time the training thread waited for data");
    assertThat(stalls.getUnit()).isEqualTo("s");
    assertThat(stalls.getSum().getDataPointsList())
        .extracting(
            at -> at.getAttributes(0).getKey(),
            at -> at.getAttributes(0).getValue().getStringValue(),
            NumberDataPoint::getAsDouble)
        .contains(tuple("cause", "fetch", 1.0), tuple("cause", "prep", 3.0));
    assertThat(metrics.get("coordl_wall_seconds_total").getSum().getDataPoints(0).getAsDouble())
        .isEqualTo(10.000000001);
    Metric store = metrics.get("coordl_store_bytes");
    assertThat(store.getUnit()).isEqualTo("By");
    assertThat(store.getGauge().getDataPoints(0).getAsDouble()).isEqualTo(4096);
    SummaryDataPoint steps = metrics.get("coordl_step_seconds").getSummary().getDataPoints(0);
    assertThat(steps.getCount()).isEqualTo(3);
    assertThat(steps.getSum()).isEqualTo(6.000000123);
    assertThat(steps.getQuantileValuesList())
        .extracting(ValueAtQuantile::getQuantile, ValueAtQuantile::getValue)
        .containsExactly(tuple(0.5, 2.0), tuple(0.9, 0.0), tuple(0.99, 0.0));
    assertThat(logged).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {302, 401, 500})
  void aCollectorThatRefusesIsLogged(int status) throws Exception {
    int port = collector(HttpServer.create(anyPort(), 0), status);
    String target = "otlp:http://127.0.0.1:" + port;
    start(target).close();

    assertThat(logged)
        .singleElement()
        .asString()
        .startsWith("metrics=" + target + " cannot send to ");
  }

  @Test
  void aMissingOrSilentCollectorIsLoggedAndTheJobEnds() throws Exception {
    String absent = "otlp:http://127.0.0.1:" + freePort();
    start(absent).close();
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String hanging = "otlp:http://127.0.0.1:" + silent.getLocalPort();
      MetricsExport export = new MetricsExport(hanging, this::totals, logged::add);
      export.start();
      MetricsExport.end(List.of(export));

      assertThat(logged).hasSize(2);
      assertThat(logged.get(0)).startsWith("metrics=" + absent + " cannot send to ");
      assertThat(logged.get(1))
          .isEqualTo("metrics=" + hanging + " has not sent the last totals: no answer within 2 s");
    }
  }

  @Test
  void allExportsAreEndedBeforeAnyIsWaitedFor() throws Exception {
    CountDownLatch second = new CountDownLatch(1);
    HttpServer waiting = HttpServer.create(anyPort(), 0);
    waiting.createContext(
        "/",
        exchange -> {
          AgentThread.await(second, Waits.LONG);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    waiting.start();
    int port = collector(HttpServer.create(anyPort(), 0), 200);
    collector.createContext(
        "/second",
        exchange -> {
          second.countDown();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    String local = "otlp:http://127.0.0.1:";
    Export one = start(local + waiting.getAddress().getPort());
    Export other = start(local + port + "/second");
    MetricsExport.end(List.of(one.export(), other.export()));
    waiting.stop(0);

    assertThat(logged).isEmpty();
  }

  @Test
  void allLastTotalsShareOneTimeLimit() throws Exception {
    Duration patience = Duration.ofHours(1);
    AtomicLong clock = new AtomicLong();
    int port = collector(HttpServer.create(anyPort(), 0), 200);
    try (ServerSocket silent = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      List<MetricsExport> exports =
          Stream.of(silent.getLocalPort(), silent.getLocalPort(), port)
              .map(to -> "otlp:http://127.0.0.1:" + to)
              .map(to -> new MetricsExport(to, this::totals, logged::add, patience))
              .toList();
      exports.forEach(MetricsExport::start);
      // The clock first reads 0, then, once the third export has ended, an hour.
      MetricsExport.end(
          exports,
          () -> {
            long now = clock.getAndSet(patience.toNanos());
            while (now > 0 && !exports.get(2).isOver()) {
              Thread.onSpinWait();
            }
            return now;
          });

      assertThat(got).hasSize(1);
      assertThat(logged).hasSize(2).allMatch(line -> line.endsWith("no answer within 3600 s"));
    }
  }

  @Test
  void theCollectorIsTakenFromTheEnvironment() {
    assertThat(new Otlp("", Map.<String, String>of()::get).where())
        .isEqualTo("http://localhost:4318/v1/metrics");
    assertThat(new Otlp("", Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1/b")::get).where())
        .isEqualTo("http://a:1/b/v1/metrics");
    assertThat(
            new Otlp("", Map.of("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://a:1/b")::get)
                .where())
        .isEqualTo("http://a:1/b");
    assertThat(new Otlp("https://c/own", Map.<String, String>of()::get).where())
        .isEqualTo("https://c/own");
  }

  @Test
  void kubeflowGetsProgressWithTheCurrentToken() throws Exception {
    TestKeys keys = TestKeys.create(folder, "trainer");
    HttpsServer server = HttpsServer.create(anyPort(), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(keys.context()));
    int port = collector(server, 200);
    Path token = Files.writeString(folder.resolve("token"), "first\n");
    Map<String, String> environment =
        Map.of(
            "KUBEFLOW_TRAINER_SERVER_URL", "https://127.0.0.1:" + port + "/status",
            "KUBEFLOW_TRAINER_SERVER_TOKEN", token.toString(),
            "KUBEFLOW_TRAINER_SERVER_CA_CERT", keys.certificate().toString());
    Kubeflow kubeflow = new Kubeflow(environment::get);

    job.plannedEpochs = 4;
    job.epochs = 1;
    job.timeLeft = 29_000_000_001L;
    kubeflow.push(totals());
    Files.writeString(token, "second");
    job.epochs = 4;
    job.timeLeft = 0;
    kubeflow.push(totals());

    assertThat(got.remove())
        .startsWith(
            "/status Bearer first application/json {\"trainerStatus\":{\"progressPercentage\":25,"
                + "\"estimatedRemainingSeconds\":30,\"metrics\":[")
        .contains("\"data_stall_share\"", "\"0.4000\"", "\"lastUpdatedTime\":\"20");
    assertThat(got.remove())
        .startsWith(
            "/status Bearer second application/json"
                + " {\"trainerStatus\":{\"progressPercentage\":100,");

    Path other = TestKeys.create(folder, "other").certificate();
    Map<String, String> wrong = new java.util.HashMap<>(environment);
    wrong.put("KUBEFLOW_TRAINER_SERVER_CA_CERT", other.toString());
    assertThatThrownBy(() -> new Kubeflow(wrong::get).push(totals()))
        .isInstanceOf(IOException.class);
    wrong.remove("KUBEFLOW_TRAINER_SERVER_CA_CERT");
    assertThatThrownBy(() -> new Kubeflow(wrong::get).push(totals()))
        .isInstanceOf(IOException.class);
    assertThat(got).isEmpty();
  }

  @Test
  void missingKubeflowIsLogged() throws Exception {
    start("kubeflow").close();
    assertThat(logged)
        .containsExactly(
            "metrics=kubeflow does nothing: the environment has no KUBEFLOW_TRAINER_SERVER_URL;"
                + " is this a TrainJob with TrainJobStatus enabled?");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "prometheus", "prometheus:", "prometheus:0", "prometheus:70000", "prometheus:host",
        "otlp:", "otlp:localhost:4318", "otlp:ftp://a", "kubeflow:x", "statsd"
      })
  void otherTargetsAreRefused(String target) {
    assertThatThrownBy(() -> MetricsExport.check(target))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
