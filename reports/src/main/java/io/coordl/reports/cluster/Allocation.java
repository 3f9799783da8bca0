package io.coordl.reports.cluster;

import java.util.Locale;

/** Rules for the cores, memory and storage rate that a job gets besides its GPUs. */
public enum Allocation {
  /** Cores, memory and storage in proportion to the job's share of a server's GPUs. */
  PROPORTIONAL,
  /** All that the job can use; the job waits until that is free. */
  GREEDY,
  /**
   * All that the job can use; jobs above their proportional share give resources back to jobs that
   * do not fit.
   */
  TUNE,
  /** The optimum over all jobs if the cluster were one server: a bound, not a plan. */
  OPT;

  /** Returns the name that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
