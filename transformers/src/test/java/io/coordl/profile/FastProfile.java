package io.coordl.profile;

import io.coordl.store.ProfiledItems;
import io.coordl.telemetry.attribution.SpanRecorder;
import io.coordl.telemetry.log.UserLog;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** A profile of the ingestion phase whose clock advances a second per reading. */
public final class FastProfile {
  private FastProfile() {}

  /** Returns a profile of {@code steps} steps. */
  public static Profile of(int steps, SpanRecorder spans, ProfiledItems items, UserLog log) {
    AtomicLong seconds = new AtomicLong();
    return new Profile(
        Set.of(Plan.INGESTION),
        steps,
        spans,
        items,
        null,
        log,
        () -> {},
        () -> seconds.incrementAndGet() * 1_000_000_000);
  }
}
