package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StepEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording near its limit loses events of items and batches, but never a total. */
class ThinningTest {
  private static final long MAX_BYTES = 1 << 20;
  private static final int EPOCHS = 200;
  private static final int BATCHES = 100;
  private static final int ITEMS = 8;

  @TempDir Path folder;

  private List<RecordedEvent> events = List.of();

  private List<RecordedEvent> of(String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl." + name))
        .toList();
  }

  /** Records about ten times as many events as fit; one flush per epoch. */
  private Thinning record(Path path) throws Exception {
    EventFile file = new EventFile(path, new EventTypes(), true);
    Thinning thinned = new Thinning(file, MAX_BYTES);
    long batch = 0;
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      for (int i = 0; i < BATCHES; i++) {
        batch++;
        for (int item = 0; item < ITEMS; item++) {
          FetchEvent fetch = new FetchEvent();
          fetch.batch = batch;
          fetch.path = "/data/train/n01440764/n01440764_" + item + ".JPEG";
          thinned.write(fetch, 0, 1_000_000_000);
        }
        StepEvent step = new StepEvent();
        step.batch = batch;
        thinned.write(step, 0, 1_000_000_000);
      }
      EpochEvent ended = new EpochEvent();
      ended.epoch = epoch;
      thinned.write(ended, 0, 1);
      thinned.write(new JobStatisticsEvent(), 0, 1);
      file.flush();
      thinned.check();
    }
    file.finish();
    events = RecordingFile.readAllEvents(path);
    return thinned;
  }

  @Test
  void totalsAndEpochsAreKeptAndBatchesAreThinned() throws Exception {
    Path path = folder.resolve("long.jfr");
    Thinning thinned = record(path);

    assertThat(of("Epoch")).hasSize(EPOCHS);
    assertThat(of("JobStatistics")).hasSize(EPOCHS);
    assertThat(Files.size(path)).isLessThan(2 * MAX_BYTES);
    List<RecordedEvent> fetches = of("Fetch");
    List<RecordedEvent> steps = of("Step");
    assertThat(fetches.size() + steps.size() + thinned.leftOut())
        .isEqualTo((long) EPOCHS * BATCHES * (ITEMS + 1));
    assertThat(steps).as("batches are thinned later").hasSizeGreaterThan(fetches.size() / ITEMS);
    long last = (long) EPOCHS * BATCHES;
    assertThat(steps)
        .as("the second half of the job is recorded too")
        .anyMatch(step -> step.getLong("batch") > last / 2);
    Map<Long, Integer> itemsOf = new HashMap<>();
    fetches.forEach(fetch -> itemsOf.merge(fetch.getLong("batch"), 1, Integer::sum));
    assertThat(itemsOf.values()).as("all items of a batch or none").containsOnly(ITEMS);
  }
}
