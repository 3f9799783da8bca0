package io.coordl.reports.whatif;

import org.jspecify.annotations.Nullable;

/**
 * What a user asks for in particular; null: nothing in particular.
 *
 * @param cacheBytes memory for a cache
 * @param cacheShare the same, as a part of the data set, 0 to 1
 * @param cores of the host
 * @param stepFactor how many times faster a step is
 * @param storageRate bytes a second of another storage
 * @param jobs of this host at once
 * @param hosts that train together
 * @param networkRate bytes a second between two of them
 * @param computeCores cores that a step keeps busy, 0 if it runs on an accelerator
 */
public record Wishes(
    @Nullable Double cacheBytes,
    @Nullable Double cacheShare,
    @Nullable Integer cores,
    @Nullable Double stepFactor,
    @Nullable Double storageRate,
    @Nullable Integer jobs,
    @Nullable Integer hosts,
    @Nullable Double networkRate,
    @Nullable Double computeCores) {

  /** None. */
  public static final Wishes NONE =
      new Wishes(null, null, null, null, null, null, null, null, null);
}
