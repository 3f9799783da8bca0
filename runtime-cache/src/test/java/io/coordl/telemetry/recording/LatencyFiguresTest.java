package io.coordl.telemetry.recording;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.TAKE;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Latency distributions in an agent recording of fetches with known durations. */
class LatencyFiguresTest {
  private static final long MILLI = 1_000_000;

  @TempDir Path folder;

  private final JobMonitor job =
      new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
  private final Object iterator = new Object();
  private List<RecordedEvent> fetches = List.of();

  /** Epoch 1: fetches of 1, 2, ... 1,000 ms. Epoch 2: nine fetches of 5 ms and one of 70 ms. */
  @BeforeEach
  void record() throws Exception {
    Path file = folder.resolve("job.jfr");
    job.startRecording(file.toString(), true);
    long fit = job.figures().spans().enter(FIT, null);
    take();
    for (int millis = 1; millis <= 1_000; millis++) {
      fetch(millis * MILLI);
    }
    end();
    take();
    for (int i = 0; i < 9; i++) {
      fetch(5 * MILLI);
    }
    fetch(70 * MILLI);
    end();
    job.figures().spans().exit(fit, null);
    job.finish();
    fetches =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals("io.coordl.LatencyStatistics"))
            .filter(event -> event.getString("kind").equals("fetch"))
            .toList();
  }

  private void fetch(long nanos) {
    job.figures().spans().itemFetched("item", System.nanoTime() - nanos, nanos, 1, Origin.STORAGE);
  }

  private void take() {
    job.figures().spans().exit(job.figures().spans().enter(ASK, iterator), true);
    job.figures().spans().exit(job.figures().spans().enter(TAKE, iterator), new Object());
  }

  private void end() {
    job.figures().spans().exit(job.figures().spans().enter(ASK, iterator), false);
  }

  private RecordedEvent ofEpoch(long epoch) {
    List<RecordedEvent> found =
        fetches.stream().filter(event -> event.getLong("epoch") == epoch).toList();
    return found.get(found.size() - 1);
  }

  private static void within1Percent(RecordedEvent event, String field, double millis) {
    assertThat(event.getDuration(field).toNanos() / (millis * MILLI))
        .as(field)
        .isBetween(0.99, 1.01);
  }

  @Test
  void percentilesMatchTheFetches() {
    RecordedEvent first = ofEpoch(1);
    assertThat(first.getLong("count")).isEqualTo(1_000);
    assertThat(first.getDuration("total").toNanos()).isEqualTo(500_500 * MILLI);
    assertThat(first.getDuration("mean").toNanos()).isEqualTo(500_500_000);
    within1Percent(first, "minimum", 1);
    within1Percent(first, "p50", 500);
    within1Percent(first, "p90", 900);
    within1Percent(first, "p99", 990);
    within1Percent(first, "p999", 999);
    within1Percent(first, "maximum", 1_000);
  }

  @Test
  void eachEpochHasItsOwnDistribution() {
    RecordedEvent second = ofEpoch(2);
    assertThat(second.getLong("count")).isEqualTo(10);
    assertThat(second.getDuration("total").toNanos()).isEqualTo(115 * MILLI);
    within1Percent(second, "p50", 5);
    within1Percent(second, "p90", 5);
    within1Percent(second, "p99", 70);
    within1Percent(second, "maximum", 70);
  }

  @Test
  void theJobsDistributionCoversAllEpochs() {
    RecordedEvent job = ofEpoch(0);
    assertThat(job.getLong("count")).isEqualTo(1_010);
    assertThat(job.getDuration("total").toNanos()).isEqualTo(500_615 * MILLI);
    within1Percent(job, "p90", 900);
    within1Percent(job, "p99", 990);
  }

  @Test
  void theRecordedHistogramIsComplete() throws Exception {
    byte[] encoded = Base64.getDecoder().decode(ofEpoch(1).getString("histogram"));
    Histogram histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(encoded), 0);
    assertThat(histogram.getTotalCount()).isEqualTo(1_000);
    assertThat(histogram.getCountBetweenValues(0, 500 * MILLI)).isBetween(498L, 505L);
  }
}
