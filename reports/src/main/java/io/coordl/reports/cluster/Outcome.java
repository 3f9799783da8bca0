package io.coordl.reports.cluster;

import java.util.List;

/**
 * Result of a simulation.
 *
 * @param jobs the finished jobs to report on, by id
 * @param makespan seconds from the beginning of the trace to the end of the last job
 * @param overloaded whether the run ended early because jobs arrived faster than they finished
 * @param finished number of finished jobs, reported on or not
 * @param unfinished jobs not finished when the simulation ended: of the whole trace or, if the jobs
 *     are generated, of those that had arrived
 * @param rounds what happened in each scheduling round, in order
 */
record Outcome(
    List<JobTime> jobs,
    double makespan,
    boolean overloaded,
    int finished,
    int unfinished,
    List<Round> rounds) {
  /** Returns this outcome for a trace of {@code all} jobs, some of which may not have arrived. */
  Outcome ofTrace(int all) {
    return new Outcome(jobs, makespan, overloaded, finished, all - finished, rounds);
  }

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
