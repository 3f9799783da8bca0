package io.coordl.profile;

import io.coordl.telemetry.event.PhaseEvent;

/**
 * One step of a phase: from one batch to the next.
 *
 * @param samples number of samples in the batch, at least 1
 * @param nanos duration, without the profile's own work
 * @param work figures counted on all threads during the step
 */
record Step(int samples, long nanos, PhaseEvent work) {
  /** Returns the mean time of a sample in nanoseconds. */
  double perSample() {
    return (double) nanos / samples;
  }

  /**
   * Returns the figures of this step alone, without the profile's own work between the two batches.
   */
  PhaseEvent figures() {
    PhaseEvent figures = new PhaseEvent();
    figures.add(work);
    figures.wall = nanos;
    double waiting = work.compute <= 0 ? 0 : (double) work.computeCoreWait / work.compute;
    figures.computeCoreWait = Math.round(waiting * Math.min(work.compute, nanos));
    return figures;
  }
}
