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

/** What Prometheus and a collector get of a job of many epochs, which its recording says too. */
class MetricsIT {
  private static final int EPOCHS = Workshop.FULL ? 50 : 8;
  private static final int UNTIL_KILLED = 100_000;

  /** Names, and the same in the recording: a nanosecond or a byte is not lost. */
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

  /** Which job it is, as far as a server says so. */
  private static final Set<String> OF_THE_JOB =
      Set.of("__name__", "instance", "job", "service.name", "process.pid");

  private final List<ExportMetricsServiceRequest> exports = new CopyOnWriteArrayList<>();
  private final List<Map<String, BigDecimal>> scrapes = new ArrayList<>();

  @ParameterizedTest
  @EnumSource(Framework.class)
  void theLastTotalsAreThoseOfTheRecording(Framework framework) throws Exception {
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
      assertGrow(last);
      // EasyTrain.fit is told how many epochs, and early stopping has a condition.
      assertThat(recorded.total("plannedEpochs")).isEqualTo(EPOCHS);
      assertThat(scrapes.get(0).get("coordl_planned_epochs"))
          .isEqualByComparingTo(BigDecimal.valueOf(EPOCHS));
      assertThat(scrapes).anyMatch(scrape -> scrape.containsKey("coordl_epoch_eta_seconds"));
    } finally {
      collector.stop(0);
    }
  }

  /** It reads every total, as it stood between what was read before and after. */
  @Test
  void prometheusItselfReadsThem() throws Exception {
    String program = program("prometheus");
    int port = freePort();
    int web = freePort();
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
              "--web.listen-address=127.0.0.1:" + web);
      try {
        Map<String, BigDecimal> read = new HashMap<>();
        Running.await(
            () -> {
              read.putAll(queried(web));
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

  /** What a receiver that is not ours keeps of a job that has ended is what the recording says. */
  @Test
  void victoriaMetricsIsSentThem() throws Exception {
    int web = freePort();
    Path directory = Workshop.empty("metrics-otlp");
    Process receiver =
        start(
            directory,
            program("victoria-metrics"),
            "-storageDataPath=" + directory.resolve("data"),
            "-httpListenAddr=127.0.0.1:" + web,
            "-search.latencyOffset=0s");
    try {
      Running.await(() -> answers(web, "/health"));
      Assumptions.assumeTrue(
          answers(web, "/opentelemetry/v1/metrics"), "It takes OTLP since 1.92, as in Debian 13");
      Job.Finished finished =
          new Job(Framework.DJL, Workshop.newestJdk(), directory, "metrics", Pictures.all(), EPOCHS)
              .agent(
                  "cache=minio,metrics=otlp:http://127.0.0.1:" + web + "/opentelemetry/v1/metrics")
              .runWell();
      Summary recorded = Summary.of(finished.recording());
      assertThat(answers(web, "/internal/force_flush")).isTrue();
      Map<String, BigDecimal> kept = queried(web);
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

  private static boolean answers(int web, String path) {
    try {
      URI.create("http://127.0.0.1:" + web + path).toURL().openStream().close();
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
    Assumptions.assumeFalse(program.isEmpty(), name + " is not there: ./verify -Pfull installs it");
    return program;
  }

  private static Process start(Path directory, String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("server.log").toFile())
        .start();
  }

  /** What Prometheus or what answers like it has last; nothing if it has nothing yet. */
  private static Map<String, BigDecimal> queried(int web) {
    Map<String, BigDecimal> values = new HashMap<>();
    try {
      URI uri =
          URI.create(
              "http://127.0.0.1:"
                  + web
                  + "/api/v1/query?query="
                  + URLEncoder.encode("{__name__=~\"coordl_.+\"}", StandardCharsets.UTF_8));
      JsonNode answer = JsonMapper.shared().readTree(uri.toURL().openStream().readAllBytes());
      for (JsonNode series : answer.at("/data/result")) {
        StringBuilder name = new StringBuilder(series.at("/metric/__name__").asString());
        for (Map.Entry<String, JsonNode> label : series.get("metric").properties()) {
          if (!OF_THE_JOB.contains(label.getKey())) {
            name.append(' ').append(label.getValue().asString());
          }
        }
        values.put(name.toString(), new BigDecimal(series.at("/value/1").asString()));
      }
    } catch (IOException e) {
      // It has not begun to listen.
    }
    return values;
  }

  /** No total ever falls, and none was ever larger than at the end. */
  private void assertGrow(Map<String, BigDecimal> last) {
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

  /** Whether there was an answer. */
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
