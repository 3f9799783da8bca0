package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.coordl.bridge.Origin;
import io.coordl.peers.PeerSink;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.PeerFetchEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All requests to other hosts are counted; few become events. */
class PeerLogTest {
  static {
    AgentEvents.register();
  }

  private static final long QUICK = 50_000;
  private static final long SLOW = 300_000;

  private final JobMonitor job =
      new JobMonitor(List.of(), "main", new AgentLog(), new RewriteLog());
  private final PeerSink peers = job.figures().peers();

  private void ask(String peer, long nanos, long bytes, Answer answer) {
    peers.asked(peer, 1_000, 1_000 + nanos, bytes, answer);
  }

  @Test
  void everyRequestIsCountedByHost() {
    ask("a:7801", QUICK, 100, Answer.FOUND);
    ask("a:7801", SLOW, 1_000, Answer.FOUND);
    ask("a:7801", QUICK, 0, Answer.ABSENT);
    ask("b:7801", SLOW, 500, Answer.KEPT);
    ask("b:7801", 400_000_000, 0, Answer.LATE);
    ask("b:7801", QUICK, 0, Answer.FAILED);

    assertThat(job.figures().peerViews())
        .extracting(PeerLogTest::fields)
        .containsExactly(
            List.of("a:7801", 2L, 1L, 0L, 0L, 0L, 1_100L, 0L, QUICK + SLOW, 0L, 0L),
            List.of("b:7801", 0L, 0L, 1L, 1L, 1L, 0L, 500L, 0L, SLOW, 400_000_000 + QUICK));
    assertThat(job.figures().latency(Durations.Kind.PEER_FOUND).count).isEqualTo(2);
    assertThat(job.figures().latency(Durations.Kind.PEER_ABSENT).count).isEqualTo(1);
    assertThat(job.figures().latency(Durations.Kind.PEER_KEPT).count).isEqualTo(1);
    assertThat(job.figures().latency(Durations.Kind.PEER_LATE).count).isEqualTo(1);
    assertThat(job.figures().latency(Durations.Kind.PEER_FAILED).count).isEqualTo(1);
  }

  @Test
  void requestsOfAllThreadsAreCounted() throws Exception {
    AtomicInteger next = new AtomicInteger();
    Runnable asking =
        () -> {
          for (int i = next.getAndIncrement(); i < 40_000; i = next.getAndIncrement()) {
            ask("peer " + i % 3, QUICK, 10, Answer.FOUND);
          }
        };
    List<Thread> threads = List.of(new Thread(asking), new Thread(asking), new Thread(asking));
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(job.figures().peerViews().stream().mapToLong(peer -> peer.found).sum())
        .isEqualTo(40_000);
    assertThat(job.figures().latency(Durations.Kind.PEER_FOUND).count).isEqualTo(40_000);
  }

  @Test
  void hostsBeyondTheLimitAreCountedTogether() {
    for (int i = 0; i < PeerLog.MAX_PEERS + 100; i++) {
      ask("host " + i, QUICK, 1, Answer.FOUND);
    }

    assertThat(job.figures().peerViews()).hasSize(PeerLog.MAX_PEERS + 1);
    assertThat(job.figures().peerViews())
        .filteredOn(view -> PeerLog.OTHERS.equals(view.peer))
        .extracting(view -> view.found)
        .containsExactly(100L);
  }

  @Test
  void onlySlowAndUnansweredRequestsAreEvents(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("peers.jfr");
    ask("before", SLOW, 1, Answer.FOUND); // The recording has not started yet.
    try (Recording recording = new Recording()) {
      recording.enable(PeerFetchEvent.class);
      recording.enable(LatencyStatisticsEvent.class);
      recording.start();
      job.figures().spans().events().open(new JfrEvents(job.figures()));
      ask("a", QUICK, 100, Answer.FOUND);
      ask("a", SLOW, 2_000, Answer.FOUND);
      ask("b", QUICK, 0, Answer.FAILED);
      ask("b", 400_000_000, 0, Answer.LATE);
      job.figures().latencies.epochEnded(1);
      recording.dump(file);
    }

    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.PeerFetch"))
        .extracting(
            event -> event.getString("peer"),
            event -> event.getString("answer"),
            event -> event.getLong("bytes"),
            event -> event.getDuration("answerTime").toNanos())
        .containsExactly(
            tuple("before", "found", 1L, SLOW),
            tuple("a", "found", 2_000L, SLOW),
            tuple("b", "failed", 0L, QUICK),
            tuple("b", "late", 0L, 400_000_000L));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.LatencyStatistics"))
        // Events of epoch 0 are totals, perhaps of other tests' jobs.
        .filteredOn(event -> event.getLong("epoch") == 1)
        .extracting(event -> event.getString("kind"), event -> event.getLong("count"))
        .containsExactlyInAnyOrder(
            tuple("peer found", 3L), tuple("peer failed", 1L), tuple("peer late", 1L));
  }

  @Test
  void theTotalsOfEveryHostAreRecorded(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("totals.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(PeerStatisticsEvent.class);
      recording.start();
      job.startRecording("unused.jfr", false); // Joins the running recording.
      ask("a", QUICK, 100, Answer.FOUND);
      ask("a", QUICK, 0, Answer.ABSENT);
      ask("b", SLOW, 500, Answer.KEPT);
      ask("b", SLOW, 0, Answer.LATE);
      job.finish();
      recording.stop();
      recording.dump(file);
    }

    assertThat(RecordingFile.readAllEvents(file))
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.PeerStatistics"))
        .extracting(PeerLogTest::fields)
        .containsExactlyElementsOf(
            job.figures().peerViews().stream().map(PeerLogTest::fields).toList());
    assertThat(job.figures().peerViews()).hasSize(2);
  }

  private static List<Object> fields(PeerStatisticsEvent view) {
    return List.of(
        String.valueOf(view.peer),
        view.found,
        view.absent,
        view.kept,
        view.late,
        view.failed,
        view.receivedBytes,
        view.sentBytes,
        view.foundTime,
        view.keptTime,
        view.lostTime);
  }

  private static List<Object> fields(RecordedEvent event) {
    return List.of(
        event.getString("peer"),
        event.getLong("found"),
        event.getLong("absent"),
        event.getLong("kept"),
        event.getLong("late"),
        event.getLong("failed"),
        event.getLong("receivedBytes"),
        event.getLong("sentBytes"),
        event.getDuration("foundTime").toNanos(),
        event.getDuration("keptTime").toNanos(),
        event.getDuration("lostTime").toNanos());
  }

  @Test
  void theSummaryReportsItemsFromOtherHosts() {
    job.figures().spans().itemFetched("one", 0, 1, 20_000, Origin.STORAGE);
    job.figures().spans().itemFetched("two", 0, 1, 30_000, Origin.MEMORY);
    job.figures().spans().itemFetched("three", 0, 1, 20_000_000, Origin.PEER);
    ask("a", SLOW, 20_000_000, Answer.FOUND);
    ask("b", 400_000_000, 0, Answer.LATE);

    assertThat(job.finish())
        .contains(
            "items: 1 from storage (19.5 KiB), 1 from memory (29.3 KiB), 1 from other hosts (19.1"
                + " MiB)")
        .contains(
            "peers: 2 contacted; 1 items found there (19.1 MiB), p50 301.1 us, p99 301.1"
                + " us, 0 stored there (0 bytes); 1 late, 0 failed (0.40 s lost)");
  }

  @Test
  void aJobWithoutPeersReportsNone() {
    job.figures().spans().itemFetched("one", 0, 1, 20_000, Origin.STORAGE);

    assertThat(job.finish()).noneMatch(line -> line.contains("host") || line.contains("peer"));
  }
}
