package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A worker of a synchronous data-parallel job. Its step takes {@code fixedMillis + n *
 * millisPerSample} for n samples, or as long as its data takes to arrive, whichever is longer.
 *
 * @param fixedMillis part of a step that is independent of the number of samples
 * @param suppliedPerSecond samples a second that its host fetches and prepares; null if unlimited
 *     or unknown
 * @param most largest number of samples that its memory holds; null if unknown
 * @param origin origin of its times
 */
public record Worker(
    String name,
    double fixedMillis,
    double millisPerSample,
    @Nullable Double suppliedPerSecond,
    @Nullable Integer most,
    Origin origin) {

  /** Returns the time of its step; 0 without samples, because the worker then takes no part. */
  double millis(long samples) {
    if (samples == 0) {
      return 0;
    }
    double computeTime = fixedMillis + samples * millisPerSample;
    return suppliedPerSecond == null
        ? computeTime
        : Math.max(computeTime, 1000.0 * samples / suppliedPerSecond);
  }

  /** Returns the samples, possibly fractional, that a step of this length processes. */
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
