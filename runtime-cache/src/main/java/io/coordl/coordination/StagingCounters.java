package io.coordl.coordination;

import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Counters of this job for the epochs of one pipeline. Thread-safe. */
final class StagingCounters {
  private final StagingStatisticsEvent sum = new StagingStatisticsEvent();

  /** By process id: nanoseconds that preparing threads waited for that job to progress. */
  private final Map<Long, Long> waitedFor = new HashMap<>();

  synchronized void count(Consumer<StagingStatisticsEvent> counted) {
    counted.accept(sum);
  }

  synchronized void waitedFor(long pid, long nanos) {
    long all = waitedFor.merge(pid, nanos, Long::sum);
    sum.waitedFor += nanos;
    if (all > sum.waitedForSlowest) {
      sum.waitedForSlowest = all;
      sum.slowestJob = pid;
    }
  }

  synchronized StagingStatisticsEvent now() {
    return sum.copy();
  }
}
