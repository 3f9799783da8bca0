package io.coordl.reports.cluster;

import java.util.Locale;

/** The order in which jobs are served. */
public enum Policy {
  /** First in, first out: by arrival. */
  FIFO,
  /** Shortest remaining time first. */
  SRTF,
  /** Least attained service: by the GPU time that a job has used. */
  LAS,
  /** Finish-time fairness: by the ratio of the time a job takes to the time it would take alone. */
  FTF;

  /** Returns the name that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
