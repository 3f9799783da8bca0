package io.coordl.staging;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Peers who are not asked again at once: each answer takes system calls, and whoever waits for a
 * batch would ask a thousand times a second. Who lived a moment ago counts as alive, which only
 * delays what would be done about a death: any such answer may be outdated when it is given. Who is
 * dead stays dead, since numbers are not given again. Thread-safe.
 */
final class RememberedPeers implements Peers {
  /** Far below all {@link Bounds}. */
  static final long NANOS = 20_000_000;

  private static final int PLACES = 32;

  private final Peers peers;
  private final Clock clock;
  private final AtomicReferenceArray<@Nullable Answer> answers = new AtomicReferenceArray<>(PLACES);

  private record Answer(long job, boolean alive, long at) {}

  RememberedPeers(Peers peers, Clock clock) {
    this.peers = peers;
    this.clock = clock;
  }

  @Override
  public boolean alive(long job) {
    int place = (int) Math.floorMod(job, (long) PLACES);
    Answer known = answers.get(place);
    long now = clock.nanos();
    if (known == null || known.job() != job || (known.alive() && now - known.at() > NANOS)) {
      known = new Answer(job, peers.alive(job), now);
      answers.set(place, known);
    }
    return known.alive();
  }

  @Override
  public void alone(Runnable action) {
    peers.alone(action);
  }
}
