package io.coordl.recording;

import io.coordl.attribution.Durations;
import io.coordl.attribution.SpanRecorder;
import io.coordl.event.EventSink;
import io.coordl.event.FetchEvent;
import io.coordl.event.PeerFetchEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.partition.PeerSink;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  /** Of one peer. */
  private static final class Counters {
    final LongAdder found = new LongAdder();
    final LongAdder absent = new LongAdder();
    final LongAdder kept = new LongAdder();
    final LongAdder late = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder receivedBytes = new LongAdder();
    final LongAdder sentBytes = new LongAdder();
    final LongAdder foundTime = new LongAdder();
    final LongAdder keptTime = new LongAdder();
    final LongAdder lostTime = new LongAdder();
  }

  private final Map<String, Counters> peers = new ConcurrentHashMap<>();
  private final SpanRecorder spans;
  private final Durations durations;

  /**
   * A log without peers.
   *
   * @param spans knows the batch that a question was asked for
   * @param durations hears how long each question took
   */
  PeerLog(SpanRecorder spans, Durations durations) {
    this.spans = spans;
    this.durations = durations;
  }

  @Override
  public void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer) {
    long nanos = Math.max(0, endNanos - startNanos);
    Counters counters = counters(peer);
    switch (answer) {
      case FOUND -> {
        counters.found.increment();
        counters.receivedBytes.add(bytes);
        counters.foundTime.add(nanos);
        durations.record(Durations.Kind.PEER_FOUND, nanos);
      }
      case ABSENT -> {
        counters.absent.increment();
        durations.record(Durations.Kind.PEER_ABSENT, nanos);
      }
      case KEPT -> {
        counters.kept.increment();
        counters.sentBytes.add(bytes);
        counters.keptTime.add(nanos);
        durations.record(Durations.Kind.PEER_KEPT, nanos);
      }
      case LATE -> {
        counters.late.increment();
        counters.lostTime.add(nanos);
        durations.record(Durations.Kind.PEER_LATE, nanos);
      }
      case FAILED -> {
        counters.failed.increment();
        counters.lostTime.add(nanos);
        durations.record(Durations.Kind.PEER_FAILED, nanos);
      }
    }
    if (nanos >= FetchEvent.SLOW_NANOS || answer == Answer.LATE || answer == Answer.FAILED) {
      spans
          .events()
          .emitNow(sink -> write(sink, peer, startNanos, startNanos + nanos, bytes, answer));
    }
  }

  private Counters counters(String peer) {
    Counters known = peers.get(peer);
    if (known != null) {
      return known;
    }
    return peers.computeIfAbsent(
        peers.size() < MOST_PEERS ? peer : OTHERS, unseen -> new Counters());
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

  private static PeerStatisticsEvent view(String peer, Counters counters) {
    PeerStatisticsEvent view = new PeerStatisticsEvent();
    view.peer = peer;
    view.found = counters.found.sum();
    view.absent = counters.absent.sum();
    view.kept = counters.kept.sum();
    view.late = counters.late.sum();
    view.failed = counters.failed.sum();
    view.receivedBytes = counters.receivedBytes.sum();
    view.sentBytes = counters.sentBytes.sum();
    view.foundTime = counters.foundTime.sum();
    view.keptTime = counters.keptTime.sum();
    view.lostTime = counters.lostTime.sum();
    return view;
  }
}
