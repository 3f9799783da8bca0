package io.coordl.recording;

import static java.util.stream.Collectors.toMap;

import io.coordl.attribution.Durations;
import io.coordl.attribution.SpanRecorder;
import io.coordl.event.EventSink;
import io.coordl.event.FetchEvent;
import io.coordl.event.PeerFetchEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.partition.PeerSink;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what is asked of other hosts, exactly, and writes an event of each question that took 0.1
 * ms or longer or was not answered. Safe for concurrent use, never blocks.
 */
final class PeerLog implements PeerSink {
  /** Peers are told apart up to here: four times as many as a cluster may have. */
  static final int MOST_PEERS = 1_024;

  static final String OTHERS = "(others)";

  private record Counters(Durations.Kind kind, LongAdder count, LongAdder nanos, LongAdder bytes) {
    Counters(Answer answer) {
      this(
          Durations.Kind.valueOf("PEER_" + answer),
          new LongAdder(),
          new LongAdder(),
          new LongAdder());
    }
  }

  private final Map<String, Map<Answer, Counters>> peers = new ConcurrentHashMap<>();
  private final SpanRecorder spans;
  private final Durations durations;

  /**
   * The spans know the batch that a question was asked for; the durations hear how long each took.
   */
  PeerLog(SpanRecorder spans, Durations durations) {
    this.spans = spans;
    this.durations = durations;
  }

  @Override
  public void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer) {
    long nanos = Math.max(0, endNanos - startNanos);
    Counters counters = of(answer, counters(peer));
    counters.count.increment();
    counters.nanos.add(nanos);
    counters.bytes.add(bytes);
    durations.record(counters.kind, nanos);
    if (nanos >= FetchEvent.SLOW_NANOS || answer == Answer.LATE || answer == Answer.FAILED) {
      spans
          .events()
          .emitNow(sink -> write(sink, peer, startNanos, startNanos + nanos, bytes, answer));
    }
  }

  private Map<Answer, Counters> counters(String peer) {
    Map<Answer, Counters> known = peers.get(peer);
    if (known != null) {
      return known;
    }
    return peers.computeIfAbsent(
        peers.size() < MOST_PEERS ? peer : OTHERS,
        unseen -> Arrays.stream(Answer.values()).collect(toMap(answer -> answer, Counters::new)));
  }

  private void write(EventSink sink, String peer, long start, long end, long bytes, Answer answer) {
    PeerFetchEvent event = new PeerFetchEvent();
    if (sink.wants(event)) {
      event.batch = spans.batchOfThisThread();
      event.peer = peer;
      event.answer = answer.name().toLowerCase(Locale.ROOT);
      event.bytes = bytes;
      event.answerTime = end - start;
      sink.write(event, start, end);
    }
  }

  /** What was asked of each so far, by name. */
  List<PeerStatisticsEvent> views() {
    return peers.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> view(entry.getKey(), entry.getValue()))
        .toList();
  }

  private static Counters of(Answer answer, Map<Answer, Counters> counters) {
    return Objects.requireNonNull(counters.get(answer));
  }

  private static PeerStatisticsEvent view(String peer, Map<Answer, Counters> counters) {
    Counters found = of(Answer.FOUND, counters);
    Counters kept = of(Answer.KEPT, counters);
    Counters late = of(Answer.LATE, counters);
    Counters failed = of(Answer.FAILED, counters);
    PeerStatisticsEvent view = new PeerStatisticsEvent();
    view.peer = peer;
    view.found = found.count.sum();
    view.absent = of(Answer.ABSENT, counters).count.sum();
    view.kept = kept.count.sum();
    view.late = late.count.sum();
    view.failed = failed.count.sum();
    view.receivedBytes = found.bytes.sum();
    view.sentBytes = kept.bytes.sum();
    view.foundTime = found.nanos.sum();
    view.keptTime = kept.nanos.sum();
    view.lostTime = late.nanos.sum() + failed.nanos.sum();
    return view;
  }
}
