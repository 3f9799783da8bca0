package io.coordl.tuning;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * The figures of successive intervals of a job, each of at least one batch. When there are {@value
 * #MAX_PIECES}, neighbours are merged in pairs, so memory is bounded. Used by one thread at a time.
 */
final class Pieces {
  static final int MAX_PIECES = 512;

  private List<Figures> all = new ArrayList<>();
  private Figures next = new JobStatisticsEvent();
  private long batches = 1;

  void add(Figures piece) {
    next.add(piece);
    if (next.batches < batches) {
      return;
    }
    all.add(next);
    next = new JobStatisticsEvent();
    if (all.size() == MAX_PIECES) {
      List<Figures> joined = new ArrayList<>();
      for (int i = 0; i < MAX_PIECES; i += 2) {
        joined.add(sum(all.subList(i, i + 2)));
      }
      all = joined;
      batches *= 2;
    }
  }

  List<Figures> all() {
    return List.copyOf(all);
  }

  static JobStatisticsEvent sum(List<Figures> pieces) {
    JobStatisticsEvent sum = new JobStatisticsEvent();
    pieces.forEach(sum::add);
    return sum;
  }
}
