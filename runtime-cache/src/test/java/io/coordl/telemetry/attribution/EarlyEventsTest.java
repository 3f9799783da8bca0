package io.coordl.telemetry.attribution;

import static io.coordl.bridge.SpanKind.ASK;
import static io.coordl.bridge.SpanKind.FIT;
import static io.coordl.bridge.SpanKind.TAKE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.coordl.bridge.Origin;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.EventSink;
import io.coordl.telemetry.event.FetchEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import jdk.jfr.Event;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording starts in the background; the job does not wait for it. */
class EarlyEventsTest {
  static {
    AgentEvents.register();
  }

  private static final Durations NO_DURATIONS =
      new Durations() {
        @Override
        public void record(Kind kind, long nanos) {}

        @Override
        public void epochEnded(long epoch) {}
      };

  /** Writes events to the user's recording. */
  private static final EventSink JFR = (event, start, end) -> event.commit();

  private final SpanRecorder spans = new SpanRecorder(new EventLog(), NO_DURATIONS, () -> 0);
  private final Object iterator = new Object();
  private final List<Object> batches = new ArrayList<>();

  private void takeOne() {
    spans.exit(spans.enter(ASK, iterator), true);
    Object batch = new Object();
    batches.add(batch);
    spans.exit(spans.enter(TAKE, iterator), batch);
  }

  private void end() {
    spans.exit(spans.enter(ASK, iterator), false);
  }

  @Test
  void epochsBegunBeforeTheRecordingAreInIt(@TempDir Path folder) throws IOException {
    long fit = spans.enter(FIT, null);
    takeOne();
    end();
    takeOne();
    Path file = folder.resolve("early.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(EpochEvent.class);
      recording.start();
      spans.events().open(JFR);
      end();
      takeOne();
      end();
      spans.exit(fit, null);
      recording.dump(file);
    }
    List<RecordedEvent> epochs = new ArrayList<>(RecordingFile.readAllEvents(file));
    epochs.removeIf(event -> !event.getEventType().getName().equals("io.coordl.Epoch"));
    assertThat(epochs).extracting(epoch -> epoch.getLong("epoch")).containsExactly(1L, 2L, 3L);
    assertThat(epochs).allSatisfy(epoch -> assertThat(epoch.getLong("batches")).isOne());
  }

  @Test
  void anEpochCountsItemsByOrigin(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("origins.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(EpochEvent.class);
      recording.enable(FetchEvent.class);
      recording.start();
      spans.events().open(JFR);
      long fit = spans.enter(FIT, null);
      takeOne();
      spans.itemFetched("near", 0, 1, 10, Origin.MEMORY);
      spans.itemFetched("far", 0, FetchEvent.SLOW_NANOS, 200, Origin.PEER);
      spans.itemFetched("far too", 0, 1, 100, Origin.PEER);
      spans.itemFetched("slow", 0, FetchEvent.SLOW_NANOS, 4_000, Origin.STORAGE);
      end();
      takeOne();
      spans.itemFetched("far", 0, 1, 200, Origin.PEER);
      end();
      spans.exit(fit, null);
      recording.dump(file);
    }

    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.Epoch"))
        .extracting(
            epoch -> epoch.getLong("items"),
            epoch -> epoch.getLong("memoryItems"),
            epoch -> epoch.getLong("peerItems"),
            epoch -> epoch.getLong("storageItems"),
            epoch -> epoch.getLong("memoryBytes"),
            epoch -> epoch.getLong("peerBytes"),
            epoch -> epoch.getLong("storageBytes"))
        .containsExactly(
            tuple(4L, 1L, 2L, 1L, 10L, 300L, 4_000L), tuple(1L, 0L, 1L, 0L, 0L, 200L, 0L));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.Fetch"))
        .extracting(fetch -> fetch.getString("origin"), fetch -> fetch.getBoolean("memory"))
        .containsExactly(tuple("peer", false), tuple("storage", false));
  }

  @Test
  void aPendingEventIsCreatedByTheRecorderAndKeepsItsTime() throws Exception {
    EventLog log = new EventLog();
    List<Thread> makers = new ArrayList<>();
    log.write(
        () -> {
          makers.add(Thread.currentThread());
          return new FetchEvent();
        },
        3,
        5);
    assertThat(makers).isEmpty();

    List<Long> times = new ArrayList<>();
    Thread recorder = new Thread(() -> log.open((event, start, end) -> times.add(start + end)));
    recorder.start();
    recorder.join();
    assertThat(makers).containsExactly(recorder);
    assertThat(times).containsExactly(8L);
  }

  @Test
  void withoutARecordingNoEventIsCreated() {
    EventLog log = new EventLog();
    AtomicInteger created = new AtomicInteger();
    Supplier<Event> event =
        () -> {
          created.incrementAndGet();
          return new FetchEvent();
        };
    log.write(event, 0, 0);
    log.close();
    log.write(event, 0, 0);
    assertThat(created).hasValue(0);
    assertThat(log.isOpen()).isFalse();
  }

  @Test
  void pendingEventsAreBounded() {
    EventLog log = new EventLog();
    AtomicInteger created = new AtomicInteger();
    for (int i = 0; i < 10_100; i++) {
      log.write(
          () -> {
            created.incrementAndGet();
            return new FetchEvent();
          },
          0,
          0);
    }
    log.open((event, start, end) -> {});
    assertThat(created).hasValue(10_000);
  }

  /** Threads write while the recording opens: none of their events is lost. */
  @Test
  void noEventIsLostWhileTheRecordingOpens() throws Exception {
    for (int round = 0; round < 300; round++) {
      EventLog log = new EventLog();
      AtomicInteger written = new AtomicInteger();
      CyclicBarrier together = new CyclicBarrier(3);
      Callable<Boolean> writing =
          () -> {
            together.await();
            for (int i = 0; i < 200; i++) {
              log.write(new FetchEvent());
            }
            return true;
          };
      ExecutorService threads = Executors.newFixedThreadPool(2);
      Future<Boolean> one = threads.submit(writing);
      Future<Boolean> other = threads.submit(writing);
      together.await();
      log.open((event, start, end) -> written.incrementAndGet());
      assertThat(one.get() && other.get()).isTrue();
      threads.shutdown();
      assertThat(written).hasValue(400);
    }
  }
}
