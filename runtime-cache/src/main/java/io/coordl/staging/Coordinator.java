package io.coordl.staging;

import org.jspecify.annotations.Nullable;

/** Brings the epochs of a group's jobs together. Thread-safe. */
public interface Coordinator {
  /**
   * This job begins an epoch. May wait, boundedly, until the epoch can be shared: for jobs that are
   * expected, or for the end of an epoch that the others are in the midst of.
   *
   * @param pipeline whose batches these are; jobs with an equal one share
   * @param own the order this job's own sampler produced; the first job's is adopted by all
   * @return null if the job keeps its own pipeline for this epoch
   */
  @Nullable SharedEpoch begin(Fingerprint pipeline, BatchOrder own);
}
