package io.coordl.reports.cluster;

/** What a job gets beside its GPUs. */
public enum Allocation {
  /** The share of cores, memory and storage that its GPUs have in a server. */
  PROPORTIONAL,
  /** All it can use, or it waits. */
  GREEDY,
  /** All it can use; jobs above their proportional share give back to those that do not fit. */
  TUNE
}
