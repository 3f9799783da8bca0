package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The settings of the user's recording also apply to the agent's events. */
class JfrEventsTest {
  private static final String STORES = "io.coordl.StoreStatistics";
  private static final String TOTALS = "io.coordl.JobStatistics";

  @TempDir Path folder;

  private final JobMonitor job =
      new JobMonitor(List.of(), "main of JfrEventsTest", new AgentLog(), new RewriteLog());
  private final JfrEvents events = new JfrEvents(job.figures());

  @BeforeEach
  void listen() {
    job.addStore(
        () -> {
          StoreStatisticsEvent store = new StoreStatisticsEvent();
          store.store = "of JfrEventsTest";
          return store;
        },
        () -> {});
    events.listen();
  }

  @AfterEach
  void end() {
    FlightRecorder.removeListener(events);
  }

  /** Returns the types of this job's events; jobs of other tests in this JVM also write events. */
  private List<String> recorded(Recording recording) throws IOException {
    Path file = folder.resolve("users.jfr");
    recording.stop();
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> Objects.equals(text(event), "of JfrEventsTest"))
        .map(event -> event.getEventType().getName())
        .distinct()
        .toList();
  }

  private static String text(RecordedEvent event) {
    return switch (event.getEventType().getName()) {
      case STORES -> event.getString("store");
      case TOTALS -> event.getString("mainClass").replace("main ", "");
      default -> "";
    };
  }

  @Test
  void storeTotalsAreRecordedWithoutJobTotals() throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(STORES);
      recording.disable(TOTALS);
      recording.start();
      assertThat(recorded(recording)).containsExactly(STORES);
    }
  }

  @Test
  void jobTotalsAreRecordedWithoutStoreTotals() throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(TOTALS);
      recording.disable(STORES);
      recording.start();
      assertThat(recorded(recording)).containsExactly(TOTALS);
    }
  }
}
