package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.Durations;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.log.UserLog;
import java.util.Set;
import java.util.function.LongSupplier;

/** Plans of jobs that do nothing. */
final class Plans {
  private Plans() {}

  static Plan of(ProfiledItems items, UserLog log) {
    return of(items, log, System::nanoTime);
  }

  static Plan of(ProfiledItems items, UserLog log, LongSupplier clock) {
    return new Plan(Set.of(), 0, spans(), items, null, log, clock);
  }

  /** Returns a recorder whose events are dropped. */
  static SpanRecorder spans() {
    Durations noDurations =
        new Durations() {
          @Override
          public void record(Kind kind, long nanos) {}

          @Override
          public void epochEnded(long epoch) {}
        };
    return new SpanRecorder(new EventLog(), noDurations, () -> 0);
  }
}
