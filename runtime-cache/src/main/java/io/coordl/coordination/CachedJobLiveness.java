package io.coordl.coordination;

import io.coordl.host.JobLiveness;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Caches briefly which jobs are alive: each check costs system calls, and a thread that waits for a
 * batch would check a thousand times a second. A stale answer only delays the reaction to a job's
 * death. A dead job stays dead, because job numbers are never reused. Thread-safe.
 */
final class CachedJobLiveness implements JobLiveness {
  /** Far below all {@link Timeouts}. */
  static final long NANOS = 20_000_000;

  private static final int PLACES = 32;

  private final JobLiveness liveness;
  private final Clock clock;
  private final AtomicReferenceArray<@Nullable Look> looks = new AtomicReferenceArray<>(PLACES);

  private record Look(long job, boolean alive, long at) {}

  CachedJobLiveness(JobLiveness liveness, Clock clock) {
    this.liveness = liveness;
    this.clock = clock;
  }

  @Override
  public boolean alive(long job) {
    int place = (int) Math.floorMod(job, (long) PLACES);
    Look known = looks.get(place);
    long now = clock.nanos();
    if (known == null || known.job() != job || (known.alive() && now - known.at() > NANOS)) {
      known = new Look(job, liveness.alive(job), now);
      looks.set(place, known);
    }
    return known.alive();
  }

  @Override
  public void alone(Runnable action) {
    liveness.alone(action);
  }
}
