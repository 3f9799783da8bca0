package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Prometheus and an OTLP collector receive the same totals as the job's recording. */
class MetricsIT {
  private static final int EPOCHS = Workshop.FULL ? 50 : 8;
  private static final int UNTIL_KILLED = 100_000;

  /** Metrics and the recording's fields; their values must agree to the nanosecond and byte. */
  private static final Map<String, String> TOTALS =
      Map.ofEntries(
          Map.entry("coordl_samples_total", "samples"),
          Map.entry("coordl_updates_total", "updates"),
          Map.entry("coordl_batches_total", "batches"),
          Map.entry("coordl_wall_seconds_total", "wallNanos"),
          Map.entry("coordl_compute_seconds_total", "computeNanos"),
          Map.entry("coordl_stall_seconds_total fetch", "fetchStallNanos"),
          Map.entry("coordl_stall_seconds_total prep", "prepStallNanos"),
          Map.entry("coordl_stall_seconds_total gc", "gcStallNanos"),
          Map.entry("coordl_stall_seconds_total queueing", "queueStallNanos"),
          Map.entry("coordl_checkpoint_seconds_total", "checkpointNanos"),
          Map.entry("coordl_work_seconds_total fetch", "fetchTimeNanos"),
          Map.entry("coordl_work_seconds_total decode", "decodeTimeNanos"),
          Map.entry("coordl_work_seconds_total transform", "transformTimeNanos"),
          Map.entry("coordl_work_seconds_total other", "otherTimeNanos"),
          Map.entry("coordl_items_total memory", "memoryItems"),
          Map.entry("coordl_items_total peers", "peerItems"),
          Map.entry("coordl_items_total storage", "storageItems"),
          Map.entry("coordl_item_bytes_total memory", "memoryBytes"),
          Map.entry("coordl_item_bytes_total peers", "peerBytes"),
          Map.entry("coordl_item_bytes_total storage", "storageBytes"),
          Map.entry("coordl_epochs", "epochs"),
          Map.entry("coordl_gc_pause_seconds_total", "gcPausesNanos"));

  /** Labels that contain the metric's name or identify the job. */
  private static final Set<String> JOB_LABELS =
      Set.of("__name__", "instance", "job", "service.name", "process.pid");

  private final List<ExportMetricsServiceRequest> exports = new CopyOnWriteArrayList<>();
  private final List<Map<String, BigDecimal>> scrapes = new ArrayList<>();

  @ParameterizedTest
  @EnumSource(Framework.class)
  void theLastTotalsEqualTheRecordings(Framework framework) throws Exception {
    int port = freePort();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/metrics",
        exchange -> {
          exports.add(ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody()));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    Job job =
        new Job(
                framework,
                Workshop.newestJdk(),
                Workshop.empty("metrics-" + framework),
                "metrics",
                Pictures.all(),
                EPOCHS)
            .agent(
                "cache=minio,metrics=prometheus:"
                    + port
                    + ",metrics=otlp:http://127.0.0.1:"
                    + collector.getAddress().getPort());
    if (framework == Framework.DL4J) {
      job.args("--loop", "earlystopping");
    }
    try (Running running = Running.start(job)) {
      running.awaitEpoch();
      while (scrape(port) || scrapes.isEmpty()) {
        LockSupport.parkNanos(20_000_000);
      }
      Job.Finished finished = running.await();
      finished.result().orFail("The job " + job.log());
      Summary recorded = Summary.of(finished.recording());

      Map<String, BigDecimal> last = exported(exports.get(exports.size() - 1));
      TOTALS.forEach(
          (name, figure) ->
              assertThat(last.get(name))
                  .as(name)
                  .isEqualByComparingTo(recorded(recorded, name, figure)));
      assertThat(last.get("coordl_store_bytes raw"))
          .isEqualByComparingTo(BigDecimal.valueOf(recorded.store("usedBytes")));
      assertThat(last.get("coordl_step_seconds count"))
          .isEqualByComparingTo(last.get("coordl_batches_total"));
      assertThat(last.get("coordl_step_seconds sum"))
          .isEqualByComparingTo(last.get("coordl_compute_seconds_total"));
      assertThat(recorded.faults()).isZero();
      assertThat(finished.agentLines()).noneMatch(line -> line.startsWith("metrics="));
      assertNeverFalls(last);
      // Derived from EasyTrain.fit's argument or from the early-stopping condition.
      assertThat(recorded.total("plannedEpochs")).isEqualTo(EPOCHS);
      assertThat(scrapes.get(0).get("coordl_planned_epochs"))
          .isEqualByComparingTo(BigDecimal.valueOf(EPOCHS));
      assertThat(scrapes).anyMatch(scrape -> scrape.containsKey("coordl_epoch_eta_seconds"));
    } finally {
      collector.stop(0);
    }
  }

  /** Each total in Prometheus lies between the values that the test reads before and after. */
  @Test
  void prometheusReadsEveryTotal() throws Exception {
    String program = program("prometheus");
    int port = freePort();
    int serverPort = freePort();
    Path directory = Workshop.empty("metrics-prometheus");
    Path settings = directory.resolve("prometheus.yml");
    Files.writeString(
        settings,
        "scrape_configs: [{job_name: training, scrape_interval: 1s, scrape_timeout: 1s,"
            + " static_configs: [{targets: ['127.0.0.1:"
            + port
            + "']}]}]\n");
    Job job =
        new Job(
                Framework.DJL,
                Workshop.newestJdk(),
                directory,
                "metrics",
                Pictures.all(),
                UNTIL_KILLED)
            .agent("cache=minio,metrics=prometheus:" + port);
    try (Running running = Running.start(job)) {
      running.awaitEpoch();
      Running.await(() -> scrape(port));
      Process prometheus =
          start(
              directory,
              program,
              "--config.file=" + settings,
              "--storage.tsdb.path=" + directory.resolve("data"),
              "--web.listen-address=127.0.0.1:" + serverPort);
      try {
        Map<String, BigDecimal> read = new HashMap<>();
        Running.await(
            () -> {
              read.putAll(queried(serverPort));
              return !read.isEmpty();
            });
        assertThat(scrape(port)).isTrue();
        for (String name : TOTALS.keySet()) {
          assertThat(read.get(name))
              .as(name)
              .isBetween(scrapes.get(0).get(name), scrapes.get(scrapes.size() - 1).get(name));
        }
      } finally {
        prometheus.destroyForcibly();
      }
      running.signal("KILL");
    }
  }

  /** After the job, a third-party receiver has the same totals as the recording. */
  @Test
  void victoriaMetricsReceivesEveryTotal() throws Exception {
    int serverPort = freePort();
    Path directory = Workshop.empty("metrics-otlp");
    Process receiver =
        start(
            directory,
            program("victoria-metrics"),
            "-storageDataPath=" + directory.resolve("data"),
            "-httpListenAddr=127.0.0.1:" + serverPort,
            "-search.latencyOffset=0s");
    try {
      Running.await(() -> answers(serverPort, "/health"));
      Assumptions.assumeTrue(
          answers(serverPort, "/opentelemetry/v1/metrics"),
          "OTLP needs VictoriaMetrics 1.92 or later, as in Debian 13");
      Job.Finished finished =
          new Job(Framework.DJL, Workshop.newestJdk(), directory, "metrics", Pictures.all(), EPOCHS)
              .agent(
                  "cache=minio,metrics=otlp:http://127.0.0.1:"
                      + serverPort
                      + "/opentelemetry/v1/metrics")
              .runWell();
      Summary recorded = Summary.of(finished.recording());
      assertThat(answers(serverPort, "/internal/force_flush")).isTrue();
      Map<String, BigDecimal> kept = queried(serverPort);
      TOTALS.forEach(
          (name, figure) ->
              assertThat(kept.get(name))
                  .as(name)
                  .isEqualByComparingTo(recorded(recorded, name, figure)));
      assertThat(kept.get("coordl_step_seconds_count"))
          .isEqualByComparingTo(kept.get("coordl_batches_total"));
      assertThat(kept).containsKeys("coordl_store_items raw", "coordl_step_seconds 0.99");
      assertThat(finished.agentLines()).noneMatch(line -> line.startsWith("metrics="));
    } finally {
      receiver.destroyForcibly();
    }
  }

  private static boolean answers(int serverPort, String path) {
    try {
      URI.create("http://127.0.0.1:" + serverPort + path).toURL().openStream().close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static String program(String name) {
    String program =
        Stream.of(System.getenv("PATH").split(":", -1))
            .map(directory -> Path.of(directory, name))
            .filter(Files::isExecutable)
            .map(Path::toString)
            .findFirst()
            .orElse("");
    Assumptions.assumeFalse(program.isEmpty(), name + " is missing: ./verify -Pfull installs it");
    return program;
  }

  private static Process start(Path directory, String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("server.log").toFile())
        .start();
  }

  /** Returns the last values in Prometheus or a compatible server; empty if there are none yet. */
  private static Map<String, BigDecimal> queried(int serverPort) {
    Map<String, BigDecimal> values = new HashMap<>();
    try {
      URI uri =
          URI.create(
              "http://127.0.0.1:"
                  + serverPort
                  + "/api/v1/query?query="
                  + URLEncoder.encode("{__name__=~\"coordl_.+\"}", StandardCharsets.UTF_8));
      JsonNode answer = JsonMapper.shared().readTree(uri.toURL().openStream().readAllBytes());
      for (JsonNode series : answer.at("/data/result")) {
        StringBuilder name = new StringBuilder(series.at("/metric/__name__").asString());
        for (Map.Entry<String, JsonNode> label : series.get("metric").properties()) {
          if (!JOB_LABELS.contains(label.getKey())) {
            name.append(' ').append(label.getValue().asString());
          }
        }
        values.put(name.toString(), new BigDecimal(series.at("/value/1").asString()));
      }
    } catch (IOException e) {
      // Not listening yet.
    }
    return values;
  }

  /** Asserts that no total ever falls or exceeds its last value. */
  private void assertNeverFalls(Map<String, BigDecimal> last) {
    for (String name : TOTALS.keySet()) {
      BigDecimal before = BigDecimal.ZERO;
      for (Map<String, BigDecimal> scrape : scrapes) {
        assertThat(scrape.get(name)).as(name).isBetween(before, last.get(name));
        before = scrape.get(name);
      }
    }
  }

  private static BigDecimal recorded(Summary summary, String name, String figure) {
    return BigDecimal.valueOf(summary.total(figure), name.contains("_seconds_") ? 9 : 0);
  }

  private static Map<String, BigDecimal> exported(ExportMetricsServiceRequest export) {
    Map<String, BigDecimal> values = new HashMap<>();
    for (Metric metric : export.getResourceMetrics(0).getScopeMetrics(0).getMetricsList()) {
      for (SummaryDataPoint point : metric.getSummary().getDataPointsList()) {
        values.put(metric.getName() + " count", BigDecimal.valueOf(point.getCount()));
        values.put(metric.getName() + " sum", BigDecimal.valueOf(point.getSum()));
      }
      for (NumberDataPoint point :
          metric.hasSum()
              ? metric.getSum().getDataPointsList()
              : metric.getGauge().getDataPointsList()) {
        String label =
            point.getAttributesList().stream()
                .map(each -> " " + each.getValue().getStringValue())
                .collect(Collectors.joining());
        values.put(metric.getName() + label, BigDecimal.valueOf(point.getAsDouble()));
      }
    }
    return values;
  }

  /** Adds the exporter's current values to {@link #scrapes}; false if it does not answer. */
  private boolean scrape(int port) {
    try {
      URI uri = URI.create("http://127.0.0.1:" + port + "/metrics");
      String text = new String(uri.toURL().openStream().readAllBytes(), StandardCharsets.UTF_8);
      Map<String, BigDecimal> values = new HashMap<>();
      text.lines()
          .filter(line -> !line.startsWith("#"))
          .forEach(
              line -> {
                int end = line.lastIndexOf(' ');
                String key = line.substring(0, end).replaceAll("\\{\\w+=\"(.*)\"}", " $1");
                values.put(key, new BigDecimal(line.substring(end + 1)));
              });
      scrapes.add(values);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }
}
