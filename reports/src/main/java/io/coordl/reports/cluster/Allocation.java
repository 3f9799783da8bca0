package io.coordl.reports.cluster;

import java.util.Locale;

/** What a job gets beside its GPUs. */
public enum Allocation {
  /** The share of cores, memory and storage that its GPUs have in a server. */
  PROPORTIONAL,
  /** All it can use, or it waits. */
  GREEDY,
  /** All it can use; jobs above their proportional share give back to those that do not fit. */
  TUNE;

  /** As users write it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
