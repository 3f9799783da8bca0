package io.coordl.telemetry.advice;

/**
 * The time of a sample or batch, divided into parts by the phases of a profile. All have the same
 * unit, and they add up to the time of the cold phase.
 */
public record PhaseParts(double compute, double prep, double fetch, double gc) {
  /**
   * Returns the differences between the phases; noise may make some negative.
   *
   * @param at times of the phases ingestion, cached and cold, then the GC pauses inside waits of
   *     cached and cold
   */
  public static PhaseParts of(double[] at) {
    double pausesCold = Math.max(0, at[4] - at[3]);
    return new PhaseParts(
        at[0], at[1] - at[0] - at[3], at[2] - at[1] - pausesCold, at[3] + pausesCold);
  }

  /** Returns the parts as {@link #of} does, but none is negative. */
  public static PhaseParts bounded(double[] at) {
    double cold = at[2];
    double cached = Math.min(at[1], cold);
    double compute = Math.min(at[0], cached);
    double pausesCached = Math.min(at[3], cached - compute);
    double pausesCold = Math.min(Math.max(0, at[4] - at[3]), cold - cached);
    return new PhaseParts(
        compute,
        cached - compute - pausesCached,
        cold - cached - pausesCold,
        pausesCached + pausesCold);
  }
}
