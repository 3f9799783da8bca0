package io.coordl.telemetry.recording;

import io.coordl.peers.PeerSink;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.Durations.Kind;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.PeerFetchEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts all requests to other hosts or to Redis, and writes an event for each that took 0.1 ms or
 * longer, was late or failed. Safe for concurrent use; counting holds a lock.
 */
final class PeerLog implements PeerSink {
  /** Further peers are counted together; four times the maximum size of a cluster. */
  static final int MAX_PEERS = 1_024;

  static final String OTHERS = "(others)";

  private final Map<String, PeerStatisticsEvent> peers = new ConcurrentHashMap<>();
  private final SpanRecorder spans;
  private final Durations durations;

  /**
   * Creates a log that gets the batch of a request from {@code spans} and adds the request's
   * duration to {@code durations}.
   */
  PeerLog(SpanRecorder spans, Durations durations) {
    this.spans = spans;
    this.durations = durations;
  }

  @Override
  public void asked(String peer, long startNanos, long endNanos, long bytes, Answer answer) {
    long nanos = Math.max(0, endNanos - startNanos);
    durations.record(count(totals(peer), answer, nanos, bytes), nanos);
    if (nanos >= FetchEvent.SLOW_NANOS || answer == Answer.LATE || answer == Answer.FAILED) {
      PeerFetchEvent event = new PeerFetchEvent();
      event.batch = spans.batchOfThisThread();
      event.peer = peer;
      event.answer = answer.name().toLowerCase(Locale.ROOT);
      event.bytes = bytes;
      event.answerTime = nanos;
      spans.events().write(event, startNanos, startNanos + nanos);
    }
  }

  private PeerStatisticsEvent totals(String peer) {
    PeerStatisticsEvent known = peers.get(peer);
    if (known != null) {
      return known;
    }
    return peers.computeIfAbsent(
        peers.size() < MAX_PEERS ? peer : OTHERS,
        name -> {
          PeerStatisticsEvent totals = new PeerStatisticsEvent();
          totals.peer = name;
          return totals;
        });
  }

  private static Kind count(PeerStatisticsEvent totals, Answer answer, long nanos, long bytes) {
    synchronized (totals) {
      return switch (answer) {
        case FOUND -> {
          totals.found++;
          totals.receivedBytes += bytes;
          totals.foundTime += nanos;
          yield Kind.PEER_FOUND;
        }
        case ABSENT -> {
          totals.absent++;
          yield Kind.PEER_ABSENT;
        }
        case KEPT -> {
          totals.kept++;
          totals.sentBytes += bytes;
          totals.keptTime += nanos;
          yield Kind.PEER_KEPT;
        }
        case LATE -> {
          totals.late++;
          totals.lostTime += nanos;
          yield Kind.PEER_LATE;
        }
        case FAILED -> {
          totals.failed++;
          totals.lostTime += nanos;
          yield Kind.PEER_FAILED;
        }
      };
    }
  }

  /** Returns the statistics of each peer so far, sorted by name. */
  List<PeerStatisticsEvent> views() {
    return peers.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            peer -> {
              synchronized (peer.getValue()) {
                return peer.getValue().copy();
              }
            })
        .toList();
  }
}
