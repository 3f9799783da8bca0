package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What Prometheus and a collector get of a job of many epochs, which its recording says too. */
class MetricsIT {
  private static final int EPOCHS = Workshop.FULL ? 150 : 8;
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

  private final List<JsonNode> exports = new CopyOnWriteArrayList<>();
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
          exports.add(JsonMapper.shared().readTree(exchange.getRequestBody().readAllBytes()));
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
    int port = freePort();
    int web = freePort();
    Path directory = Workshop.empty("metrics-prometheus");
    String settings =
        "scrape_configs: [{job_name: training, scrape_interval: 1s, scrape_timeout: 1s,"
            + " static_configs: [{targets: ['127.0.0.1:"
            + port
            + "']}]}]\n";
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
      Process prometheus = prometheus(directory, web, settings);
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

  /** What it keeps of a job that has ended is what the recording says. */
  @Test
  void prometheusItselfIsSentThem() throws Exception {
    Process asked = new ProcessBuilder(program(), "--help").redirectErrorStream(true).start();
    String help = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Assumptions.assumeTrue(help.contains("otlp"), "Prometheus takes OTLP from 2.47 on, Debian 13");
    String flag = "--web.enable-otlp-receiver";
    int web = freePort();
    Path directory = Workshop.empty("metrics-otlp");
    Process prometheus =
        prometheus(
            directory,
            web,
            "",
            help.contains(flag) ? flag : "--enable-feature=otlp-write-receiver");
    try {
      Running.await(() -> isReady(web));
      Job.Finished finished =
          new Job(Framework.DJL, Workshop.newestJdk(), directory, "metrics", Pictures.all(), EPOCHS)
              .agent("cache=minio,metrics=otlp:http://127.0.0.1:" + web + "/api/v1/otlp/v1/metrics")
              .runWell();
      Summary recorded = Summary.of(finished.recording());
      Map<String, BigDecimal> sent = queried(web);
      TOTALS.forEach(
          (name, figure) ->
              assertThat(sent.get(name))
                  .as(name)
                  .isEqualByComparingTo(recorded(recorded, name, figure)));
      assertThat(sent.get("coordl_step_seconds_count"))
          .isEqualByComparingTo(sent.get("coordl_batches_total"));
      assertThat(sent).containsKeys("coordl_store_items raw", "coordl_step_seconds 0.99");
      assertThat(finished.agentLines()).noneMatch(line -> line.startsWith("metrics="));
    } finally {
      prometheus.destroyForcibly();
    }
  }

  private static String program() {
    String program =
        Stream.of(System.getenv("PATH").split(":", -1))
            .map(directory -> Path.of(directory, "prometheus"))
            .filter(Files::isExecutable)
            .map(Path::toString)
            .findFirst()
            .orElse("");
    Assumptions.assumeFalse(
        program.isEmpty(), "Prometheus is not there: ./verify -Pfull installs it");
    return program;
  }

  private static Process prometheus(Path directory, int web, String settings, String... flags)
      throws IOException {
    Path file = Files.writeString(directory.resolve("prometheus.yml"), settings);
    List<String> command = new ArrayList<>(List.of(program(), "--config.file=" + file));
    command.add("--storage.tsdb.path=" + directory.resolve("data"));
    command.add("--web.listen-address=127.0.0.1:" + web);
    command.addAll(List.of(flags));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("prometheus.log").toFile())
        .start();
  }

  private static boolean isReady(int web) {
    try {
      URI.create("http://127.0.0.1:" + web + "/-/ready").toURL().openStream().close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** What Prometheus read last; nothing if it has read nothing yet. */
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
          if (!Set.of("__name__", "instance", "job").contains(label.getKey())) {
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

  private static Map<String, BigDecimal> exported(JsonNode export) {
    Map<String, BigDecimal> values = new HashMap<>();
    for (JsonNode metric : export.at("/resourceMetrics/0/scopeMetrics/0/metrics")) {
      String name = metric.get("name").asString();
      for (String form : List.of("sum", "gauge", "summary")) {
        for (JsonNode point : metric.path(form).path("dataPoints")) {
          String label = point.at("/attributes/0/value/stringValue").asString("");
          String key = (name + " " + label).strip();
          if (form.equals("summary")) {
            values.put(key + " count", new BigDecimal(point.path("count").asString("0")));
            values.put(key + " sum", new BigDecimal(point.path("sum").asString("0")));
          } else {
            values.put(key, point.get("asDouble").decimalValue());
          }
        }
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
