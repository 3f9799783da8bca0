package io.coordl.telemetry.recording;

import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.Deflater;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * The distribution of all durations, independent of event thresholds. Counts and totals are exact,
 * quantiles within 1 %. Recording is lock-free; each kind takes about 130 KB.
 */
final class Latencies implements Durations {
  private static final int DIGITS = 2;
  private static final long MAX_NANOS = TimeUnit.HOURS.toNanos(24);

  /** Durations of one kind. */
  private static final class Track {
    /**
     * All values that threads record, as atomic counts. Not a recorder of HdrHistogram: if the
     * program stops a thread ({@code Thread.stop}) while it records, a recorder's reader would wait
     * forever.
     */
    final AtomicHistogram recorded = new AtomicHistogram(MAX_NANOS, DIGITS);

    /** Copy of the counts when last collected. */
    final Histogram job = new Histogram(MAX_NANOS, DIGITS);

    /** Copy of the counts at the end of the previous epoch. */
    final Histogram atEpochEnd = new Histogram(MAX_NANOS, DIGITS);

    final LongAdder total = new LongAdder();
    long totalBefore;

    void collect() {
      // Avoids a loop over thousands of counts, which the JIT compilers would spend time on.
      if (job.getTotalCount() != recorded.getTotalCount()) {
        job.reset();
        job.add(recorded);
      }
    }

    /** Returns the values recorded since the previous epoch ended; called when an epoch ends. */
    Histogram endEpoch() {
      collect();
      Histogram epoch = job.copy();
      epoch.subtract(atEpochEnd);
      atEpochEnd.reset();
      atEpochEnd.add(job);
      return epoch;
    }
  }

  private final EventLog events;

  /** By kind, created on first use: most jobs have no peers. */
  private final Map<Kind, Track> tracks = new ConcurrentHashMap<>();

  /** Creates empty distributions; writes those of each epoch to {@code events} at its end. */
  Latencies(EventLog events) {
    this.events = events;
  }

  @Override
  public void record(Kind kind, long nanos) {
    Track known = tracks.get(kind);
    Track track = known != null ? known : tracks.computeIfAbsent(kind, absent -> new Track());
    long value = Math.max(0, nanos);
    track.total.add(value);
    track.recorded.recordValue(Math.min(value, MAX_NANOS));
  }

  @Override
  public synchronized void epochEnded(long epoch) {
    for (Kind kind : Kind.values()) {
      Track track = tracks.get(kind);
      if (track == null) {
        continue;
      }
      if (track.atEpochEnd.getTotalCount() != track.recorded.getTotalCount()) {
        Histogram durations = track.endEpoch();
        long total = track.total.sum();
        events.write(event(kind, epoch, durations, total - track.totalBefore));
        track.totalBefore = total;
      }
    }
  }

  /** Returns the job's distributions so far, as events of epoch 0. */
  synchronized List<LatencyStatisticsEvent> job() {
    List<LatencyStatisticsEvent> all = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      Track track = tracks.get(kind);
      if (track != null) {
        track.collect();
        if (track.job.getTotalCount() > 0) {
          all.add(event(kind, 0, track.job, track.total.sum()));
        }
      }
    }
    return all;
  }

  private static LatencyStatisticsEvent event(
      Kind kind, long epoch, Histogram histogram, long total) {
    LatencyStatisticsEvent event = new LatencyStatisticsEvent();
    long count = histogram.getTotalCount();
    event.kind = kind.label();
    event.epoch = epoch;
    event.count = count;
    event.total = total;
    event.minimum = histogram.getMinValue();
    event.mean = Math.round((double) total / count);
    event.p50 = histogram.getValueAtPercentile(50);
    event.p90 = histogram.getValueAtPercentile(90);
    event.p99 = histogram.getValueAtPercentile(99);
    event.p999 = histogram.getValueAtPercentile(99.9);
    event.maximum = histogram.getMaxValue();
    event.histogram = encode(histogram);
    return event;
  }

  private static String encode(Histogram histogram) {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer, Deflater.BEST_SPEED);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
  }
}
