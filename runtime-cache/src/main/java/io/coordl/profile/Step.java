package io.coordl.profile;

import io.coordl.event.PhaseEvent;

/**
 * One step of a phase: from a batch that was got to the next one.
 *
 * @param samples of the batch, at least 1
 * @param nanos that it took, what the profile itself did left out
 * @param work what was counted meanwhile, on all threads
 */
record Step(int samples, long nanos, PhaseEvent work) {
  /** Time of one sample in nanoseconds. */
  double perSample() {
    return (double) nanos / samples;
  }
}
