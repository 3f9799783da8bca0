package io.coordl.reports.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.StepEvent;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PerfettoTraceTest {
  @TempDir Path folder;

  private static void job() {
    StepEvent step = new StepEvent();
    step.begin();
    step.batch = 7;
    step.commit();
    Thread worker =
        new Thread(
            () -> {
              FetchEvent fetch = new FetchEvent();
              fetch.begin();
              fetch.path = "a \"b\".jpg";
              fetch.bytes = 10;
              fetch.commit();
            },
            "worker");
    worker.start();
    try {
      worker.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    DataStallEvent stall = new DataStallEvent();
    stall.wait = 3;
    stall.commit();
    Recordings.emitEpoch(1, Recordings.SECOND, 0);
    Recordings.emitTotals(1, 100, Recordings.SECOND, 0);
  }

  private List<JsonNode> trace(Path... recordings) throws Exception {
    StringWriter out = new StringWriter();
    PerfettoTrace.write(List.of(recordings), out);
    List<JsonNode> events = new ArrayList<>();
    JsonMapper.shared().readTree(out.toString()).get("traceEvents").forEach(events::add);
    return events;
  }

  private static List<JsonNode> named(List<JsonNode> events, String name) {
    return events.stream().filter(event -> event.get("name").asString().equals(name)).toList();
  }

  @Test
  void eachSpanHasItsThreadAndTheFieldsOfItsEvent() throws Exception {
    List<JsonNode> events =
        trace(Recordings.record(folder.resolve("a.jfr"), PerfettoTraceTest::job));

    assertThat(events)
        .extracting(event -> event.get("ph").asString())
        .containsExactlyInAnyOrder("X", "X", "X", "b", "e", "M", "M", "M");
    assertThat(named(events, "step")).hasSize(1);
    assertThat(named(events, "data stall").get(0).at("/args/waitNanos").asLong()).isEqualTo(3);
    JsonNode fetch = named(events, "fetch").get(0);
    assertThat(fetch.at("/args/path").asString()).isEqualTo("a \"b\".jpg");
    assertThat(fetch.at("/args/bytes").asLong()).isEqualTo(10);
    assertThat(named(events, "thread_name"))
        .extracting(event -> event.at("/args/name").asString())
        .containsExactlyInAnyOrder("worker", Thread.currentThread().getName());
    assertThat(named(events, "thread_name"))
        .filteredOn(event -> event.at("/args/name").asString().equals("worker"))
        .allMatch(event -> event.get("tid").equals(fetch.get("tid")));
    assertThat(events)
        .filteredOn(event -> event.has("ts"))
        .allMatch(event -> event.get("ts").asDouble() >= 0);
    assertThat(events)
        .filteredOn(event -> event.has("dur"))
        .allMatch(event -> event.get("dur").asDouble() >= 0);
    assertThat(named(events, "fetch"))
        .extracting(event -> event.get("id").asInt())
        .containsExactly(1, 1);
    assertThat(named(events, "process_name").get(0).at("/args/name").asString())
        .startsWith("my.Train --epochs 3, ")
        .endsWith("a.jfr");
  }

  @Test
  void severalJobsAreProcessesOnOneTimeAxis() throws Exception {
    Path a = Recordings.record(folder.resolve("a.jfr"), PerfettoTraceTest::job);
    Path b = Recordings.record(folder.resolve("b.jfr"), PerfettoTraceTest::job);

    List<JsonNode> steps = named(trace(a, b), "step");

    assertThat(steps).extracting(step -> step.get("pid").asInt()).containsExactly(1, 2);
    assertThat(steps.get(0).get("ts").asDouble()).isLessThan(steps.get(1).get("ts").asDouble());
  }
}
