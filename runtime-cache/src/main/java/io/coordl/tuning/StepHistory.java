package io.coordl.tuning;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * The figures of successive intervals of a job, each of at least one batch. When there are {@value
 * #MAX_INTERVALS}, neighbours are merged in pairs, so memory is bounded. Used by one thread at a
 * time.
 */
final class StepHistory {
  static final int MAX_INTERVALS = 512;

  private List<Figures> all = new ArrayList<>();
  private Figures next = new JobStatisticsEvent();
  private long minBatches = 1;

  void add(Figures interval) {
    next.add(interval);
    if (next.batches < minBatches) {
      return;
    }
    all.add(next);
    next = new JobStatisticsEvent();
    if (all.size() == MAX_INTERVALS) {
      List<Figures> joined = new ArrayList<>();
      for (int i = 0; i < MAX_INTERVALS; i += 2) {
        joined.add(sum(all.subList(i, i + 2)));
      }
      all = joined;
      minBatches *= 2;
    }
  }

  List<Figures> all() {
    return List.copyOf(all);
  }

  static JobStatisticsEvent sum(List<Figures> intervals) {
    JobStatisticsEvent sum = new JobStatisticsEvent();
    intervals.forEach(sum::add);
    return sum;
  }
}
