package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program's threads continue while a job's last totals are written; all outputs show the same
 * totals.
 */
class TotalsAtTheEndTest {
  @TempDir Path folder;

  private final JobMonitor job =
      new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
  private final AtomicLong hits = new AtomicLong();

  /** The program fetches another item, more slowly than the last, whenever figures are read. */
  private StoreStatisticsEvent readMore() {
    long hit = hits.incrementAndGet();
    job.figures().spans().itemFetched("item", 0, hit * 1_000_000, 10, Origin.STORAGE);
    job.figures().spans().fetchTime(0, 1_000_000);
    long decode = job.figures().spans().enter(SpanKind.DECODE, null);
    job.figures().spans().exit(decode, null);
    StoreStatisticsEvent store = new StoreStatisticsEvent();
    store.store = "raw";
    store.hits = hit;
    store.misses = 1;
    return store;
  }

  private void leaveAnEpochEarly() {
    long fit = job.figures().spans().enter(SpanKind.FIT, null);
    Object iterator = new Object();
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.TAKE, iterator), new Object());
    job.figures().spans().exit(job.figures().spans().enter(SpanKind.UPDATE, null), null);
    readMore();
    job.figures().spans().exit(fit, null);
  }

  private List<RecordedEvent> recorded(Path file, String name) throws Exception {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl." + name))
        .toList();
  }

  @Test
  void allOutputsHaveTheSameTotals() throws Exception {
    Path file = folder.resolve("job.jfr");
    job.addStore(this::readMore, () -> {});
    job.startRecording(file.toString(), true);
    leaveAnEpochEarly();
    // The agent's shutdown hook runs while the program's threads are still running.
    job.addRequested("cache=minio", "cache=minio", () -> readMore() == null ? "never" : "");

    List<String> lines = job.finish();

    List<RecordedEvent> all = recorded(file, "JobStatistics");
    RecordedEvent totals = all.get(all.size() - 1);
    long items = totals.getLong("items");
    assertThat(items).isPositive();
    assertThat(lines).anyMatch(line -> line.startsWith("items: " + items + " from storage"));
    assertThat(recorded(file, "Epoch"))
        .singleElement()
        .satisfies(
            epoch -> {
              assertThat(epoch.getLong("items")).isEqualTo(items);
              assertThat(epoch.getLong("fetchTime")).isEqualTo(totals.getLong("fetchTime"));
              assertThat(epoch.getLong("decodeTime")).isEqualTo(totals.getLong("decodeTime"));
              assertThat(epoch.getLong("compute")).isEqualTo(totals.getLong("compute"));
            });
    assertThat(recorded(file, "LatencyStatistics"))
        .filteredOn(latency -> latency.getString("kind").equals("fetch"))
        .allSatisfy(latency -> assertThat(latency.getLong("count")).isEqualTo(items));
    List<RecordedEvent> stores = recorded(file, "StoreStatistics");
    long hit = stores.get(stores.size() - 1).getLong("hits");
    assertThat(lines).anyMatch(line -> line.contains("; " + hit + " hits, 1 misses"));
  }
}
