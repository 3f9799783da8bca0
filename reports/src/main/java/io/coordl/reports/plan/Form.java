package io.coordl.reports.plan;

import java.util.Locale;

/** Formats in which a cluster accepts a plan. */
public enum Form {
  /** Kustomize patches for Kubernetes Jobs. */
  JOB,
  /** Kustomize patches for JobSets. */
  JOBSET,
  /** Kustomize patches for Kubeflow TrainJobs. */
  TRAINJOB,
  /** Options for Slurm's sbatch. */
  SLURM;

  /** Returns the name that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
