package io.coordl.staging;

import io.coordl.shared.JobLiveness;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for a moment which jobs run: each look takes system calls, and a thread that waits for
 * a batch would look a thousand times a second. A job that ran a moment ago counts as alive, which
 * only delays what is done about a death. A dead job stays dead, since numbers are not given again.
 * Thread-safe.
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
