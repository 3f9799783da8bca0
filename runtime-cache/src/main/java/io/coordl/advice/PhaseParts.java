package io.coordl.advice;

/**
 * What the time of a sample, or of a batch, goes to, as the phases of a profile tell. All are in
 * one unit, and they add up to the time of the cold phase.
 */
public record PhaseParts(double compute, double prep, double fetch, double gc) {
  /**
   * As the differences are: noise makes some of them negative.
   *
   * @param at the times of the phases ingestion, cached and cold, and of the latter two the pauses
   *     for garbage collection inside waits
   */
  public static PhaseParts of(double[] at) {
    double pausesCold = Math.max(0, at[4] - at[3]);
    return new PhaseParts(
        at[0], at[1] - at[0] - at[3], at[2] - at[1] - pausesCold, at[3] + pausesCold);
  }

  /** As above; none is negative. */
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
