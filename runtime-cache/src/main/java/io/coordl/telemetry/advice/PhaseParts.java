package io.coordl.telemetry.advice;

/**
 * The time of a sample or batch, divided into parts by the phases of a profile. All have the same
 * unit, and they add up to the time of the cold phase.
 */
public record PhaseParts(double compute, double prep, double fetch, double gc) {
  /**
   * Returns the differences between the phases; noise may make some negative.
   *
   * @param times times of the phases ingestion, cached and cold, then the GC pauses inside waits in
   *     the phases cached and cold
   */
  public static PhaseParts of(double[] times) {
    double pausesCold = Math.max(0, times[4] - times[3]);
    return new PhaseParts(
        times[0],
        times[1] - times[0] - times[3],
        times[2] - times[1] - pausesCold,
        times[3] + pausesCold);
  }

  /** Returns the parts as {@link #of} does, but none is negative. */
  public static PhaseParts bounded(double[] times) {
    double cold = times[2];
    double cached = Math.min(times[1], cold);
    double compute = Math.min(times[0], cached);
    double pausesCached = Math.min(times[3], cached - compute);
    double pausesCold = Math.min(Math.max(0, times[4] - times[3]), cold - cached);
    return new PhaseParts(
        compute,
        cached - compute - pausesCached,
        cold - cached - pausesCold,
        pausesCached + pausesCold);
  }
}
