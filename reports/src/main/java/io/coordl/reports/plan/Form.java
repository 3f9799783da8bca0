package io.coordl.reports.plan;

import java.util.Locale;

/** Formats in which a cluster accepts a plan. */
public enum Form {
  /** Kustomize patches of Kubernetes' Job. */
  JOB,
  /** Kustomize patches of JobSet. */
  JOBSET,
  /** Kustomize patches of Kubeflow's TrainJob. */
  TRAINJOB,
  /** Options of Slurm's sbatch. */
  SLURM;

  /** Returns the name that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
