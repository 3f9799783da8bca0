package io.coordl.reports.whatif;

import org.jspecify.annotations.Nullable;

/**
 * A setup for which the user requests predictions; null fields stay as measured.
 *
 * @param cacheBytes memory for a cache
 * @param cacheShare the same as a share of the data set, 0 to 1
 * @param cores cores of the host
 * @param stepFactor speed-up of a step
 * @param storageRate bytes per second from another storage
 * @param jobs number of jobs on this host
 * @param hosts number of hosts that train together
 * @param networkRate bytes per second between two hosts
 * @param computeCores cores that a step keeps busy, 0 if it runs on an accelerator
 */
public record Scenario(
    @Nullable Double cacheBytes,
    @Nullable Double cacheShare,
    @Nullable Integer cores,
    @Nullable Double stepFactor,
    @Nullable Double storageRate,
    @Nullable Integer jobs,
    @Nullable Integer hosts,
    @Nullable Double networkRate,
    @Nullable Double computeCores) {

  public static final Scenario NONE =
      new Scenario(null, null, null, null, null, null, null, null, null);

  /**
   * Returns the share of {@code needed} bytes that fits in the scenario's memory or, if it has
   * none, in {@code free}; 1 if the sizes are unknown.
   */
  double fits(double needed, double free) {
    if (cacheShare != null) {
      return Math.min(1, cacheShare);
    }
    double memory = cacheBytes == null ? free : cacheBytes;
    return needed == 0 || memory == 0 ? 1 : Math.min(1, memory / needed);
  }

  /** Returns the cache as a share of the data set, at most 1; null if unknown. */
  @Nullable Double cacheShare(Pipeline pipeline) {
    if (cacheShare != null) {
      return Math.min(1, cacheShare);
    }
    return cacheBytes == null || pipeline.datasetBytes == 0
        ? null
        : (Double) Math.min(1, cacheBytes / pipeline.datasetBytes);
  }
}
