package io.coordl.reports.differential;

import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.PhaseEvent;

/**
 * What the agent said while the program ran about where the time of the training thread went: parts
 * of the wall time, 0 to 1.
 *
 * @param of what was running: {@code job} for a whole job, else the name of a phase
 */
public record Attribution(
    String file,
    String of,
    double compute,
    double prepStall,
    double fetchStall,
    double gcStall,
    double queueStall,
    double checkpoint) {

  /** Of a whole job; its wall time must be positive. */
  static Attribution of(String file, JobStatisticsEvent job) {
    double wall = job.wall;
    return new Attribution(
        file,
        "job",
        job.compute / wall,
        job.prepStall / wall,
        job.fetchStall / wall,
        job.gcStall / wall,
        job.queueStall / wall,
        job.checkpoint / wall);
  }

  /** Of the steps of a phase; its wall time must be positive. */
  static Attribution of(String file, PhaseEvent phase) {
    double wall = phase.wall;
    return new Attribution(
        file,
        String.valueOf(phase.phase),
        phase.compute / wall,
        phase.prepStall / wall,
        phase.fetchStall / wall,
        phase.gcStall / wall,
        phase.queueStall / wall,
        0);
  }
}
