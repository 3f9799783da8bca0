package io.coordl.coordination;

import io.coordl.host.JobLiveness;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Briefly caches which jobs are alive: each check costs system calls, and a thread that waits for a
 * batch may check a thousand times a second. A stale result only delays the reaction to a job's
 * death. A dead job stays dead, because job numbers are never reused. Thread-safe.
 */
final class CachedJobLiveness implements JobLiveness {
  /** Lifetime of a positive result; far below all {@link Timeouts}. */
  static final long NANOS = 20_000_000;

  private static final int PLACES = 32;

  private final JobLiveness liveness;
  private final Clock clock;
  private final AtomicReferenceArray<@Nullable Check> checks = new AtomicReferenceArray<>(PLACES);

  private record Check(long job, boolean alive, long at) {}

  CachedJobLiveness(JobLiveness liveness, Clock clock) {
    this.liveness = liveness;
    this.clock = clock;
  }

  @Override
  public boolean alive(long job) {
    int place = (int) Math.floorMod(job, (long) PLACES);
    Check last = checks.get(place);
    long now = clock.nanos();
    if (last == null || last.job() != job || (last.alive() && now - last.at() > NANOS)) {
      last = new Check(job, liveness.alive(job), now);
      checks.set(place, last);
    }
    return last.alive();
  }

  @Override
  public void alone(Runnable action) {
    liveness.alone(action);
  }
}
