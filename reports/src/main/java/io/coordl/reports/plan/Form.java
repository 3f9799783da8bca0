package io.coordl.reports.plan;

import java.util.Locale;

/** Forms of a plan that a cluster takes. */
public enum Form {
  /** Kustomize patches of Kubernetes' Job. */
  JOB,
  /** Kustomize patches of JobSet. */
  JOBSET,
  /** Kustomize patches of Kubeflow's TrainJob. */
  TRAINJOB,
  /** Options of Slurm's sbatch. */
  SLURM;

  /** As users write it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
