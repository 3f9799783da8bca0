package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A worker of a synchronous data-parallel job. Its step takes {@code fixedMillis + n *
 * millisPerSample} for n samples, or as long as its data takes to arrive, whichever is longer.
 *
 * @param fixedMillis of a step, whatever the number of samples
 * @param suppliedPerSecond samples a second that its host fetches and prepares; null if that is no
 *     limit, or not known
 * @param most samples that its memory holds; null if nobody said
 * @param origin of its times
 */
public record Worker(
    String name,
    double fixedMillis,
    double millisPerSample,
    @Nullable Double suppliedPerSecond,
    @Nullable Integer most,
    Origin origin) {

  /** What its step takes; a worker without samples takes no part. */
  double millis(long samples) {
    if (samples == 0) {
      return 0;
    }
    double computes = fixedMillis + samples * millisPerSample;
    return suppliedPerSecond == null
        ? computes
        : Math.max(computes, 1000.0 * samples / suppliedPerSecond);
  }

  /** Samples, in fractions, of a step that takes so long. */
  double samples(double millis) {
    double samples = Math.max(0, (millis - fixedMillis) / millisPerSample);
    if (suppliedPerSecond != null) {
      samples = Math.min(samples, suppliedPerSecond * millis / 1000);
    }
    return most == null ? samples : Math.min(samples, most);
  }

  boolean holds(long samples) {
    return most == null || samples <= most;
  }
}
