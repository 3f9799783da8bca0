package io.coordl.reports.cluster;

import java.util.List;

/**
 * Result of a simulation.
 *
 * @param jobs the finished jobs, by id
 * @param makespan seconds from the beginning of the trace to the end of the last job
 * @param overloaded whether measured jobs were unfinished long after their arrival
 * @param unfinished jobs not finished when the simulation ended: of those that had arrived or, for
 *     the {@link ReleasedSimulator}, of those that had not
 * @param rounds what happened in each scheduling round, in order
 */
record Outcome(
    List<JobTime> jobs, double makespan, boolean overloaded, int unfinished, List<Round> rounds) {
  /**
   * A scheduling round.
   *
   * @param at seconds from the beginning of the trace
   * @param queued waiting jobs
   * @param gpus share of the cluster's GPUs that jobs hold, from 0 to 1; likewise the other
   *     resources
   */
  record Round(double at, int queued, double gpus, double cores, double memory, double storage) {}
}
