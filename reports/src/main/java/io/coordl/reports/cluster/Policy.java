package io.coordl.reports.cluster;

/** Which job comes first. */
public enum Policy {
  /** First in, first out: by arrival. */
  FIFO,
  /** Shortest remaining time first. */
  SRTF,
  /** Least attained service: by the GPU time that a job has had. */
  LAS,
  /** Finish-time fairness: by the time that a job takes beside the time it would take alone. */
  FTF
}
