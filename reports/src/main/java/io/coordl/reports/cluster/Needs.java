package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * The resources that a job of one model can use on a cluster, and its speed by resources. All
 * vectors hold the amount of each {@link Resource} per GPU; callers must not change them.
 */
final class Needs {
  private final Cluster cluster;
  private final ModelTable models;
  private final JobModel model;
  private final int gpus;
  private final double ownMemory;
  private final double[] fair;
  private final double[] ideal;
  private final double fairSpeed;

  /**
   * @param ownMemoryGib memory of the whole job besides its cache; not part of the model's table
   */
  Needs(Cluster cluster, ModelTable models, JobModel model, int gpus, double ownMemoryGib) {
    this.cluster = cluster;
    this.models = models;
    this.model = model;
    this.gpus = gpus;
    ownMemory = ownMemoryGib / gpus;
    fair = cluster.perGpu();
    ideal = computeIdeal();
    fairSpeed = speed(fair);
  }

  double[] fair() {
    return fair;
  }

  /** Returns all that the job can use. */
  double[] ideal() {
    return ideal;
  }

  double fairSpeed() {
    return fairSpeed;
  }

  /** Returns the speed according to the {@link ModelTable}. */
  double speed(double[] perGpu) {
    if (ownMemory == 0) {
      return models.speed(model, gpus, perGpu);
    }
    double[] forItems = perGpu.clone();
    forItems[Resource.MEMORY] = Math.max(0, forItems[Resource.MEMORY] - ownMemory);
    return models.speed(model, gpus, forItems);
  }

  /**
   * Returns the upper limit for one GPU of this job: a server's resources divided among the job's
   * GPUs there.
   */
  private double[] limit() {
    double[] limit = cluster.perServer();
    for (int r = 0; r < limit.length; r++) {
      limit[r] /= Math.min(gpus, cluster.gpusPerServer());
    }
    return limit;
  }

  private double[] computeIdeal() {
    double[] limit = limit();
    double cores = Math.min(model.coresPerGpu(), limit[Resource.CORES]);
    double memory = Math.min(model.memoryGibPerGpu() + ownMemory, limit[Resource.MEMORY]);
    double storage = Math.min(storage(cores, memory), limit[Resource.STORAGE]);
    // With only its share of memory, the job may need a higher storage rate.
    double atShare =
        storage(
            Math.min(cores, fair[Resource.CORES]),
            Math.min(memory, Math.max(fair[Resource.MEMORY], ownMemory)));
    return new double[] {
      cores, memory, Math.max(storage, Math.min(atShare, fair[Resource.STORAGE])), 0
    };
  }

  /** Returns MB/s that one GPU reads from storage if nothing else limits it. */
  private double storage(double cores, double memory) {
    return models.storageRate(model, gpus, cores, Math.max(0, memory - ownMemory));
  }

  /** Returns a class of {@code jobs} jobs like this one. */
  Optimum.JobClass jobClass(int jobs) {
    return new Optimum.JobClass(jobs, gpus, fairSpeed, points());
  }

  /**
   * Returns {@link #fair()}, {@link #ideal()} and the points of the job's table that one server can
   * provide, but no point that another one dominates.
   */
  List<Optimum.Point> points() {
    double[] limit = limit();
    List<double[]> all = new ArrayList<>();
    all.add(fair);
    all.add(ideal);
    for (double cores : models.cores(model)) {
      for (double memory : models.memory(model)) {
        double totalMemory = memory + ownMemory;
        if (cores <= limit[Resource.CORES] && totalMemory <= limit[Resource.MEMORY]) {
          double needed = Math.min(storage(cores, totalMemory), limit[Resource.STORAGE]);
          all.add(new double[] {cores, totalMemory, needed, 0});
          for (double storage : models.storage(model)) {
            if (storage < needed) {
              all.add(new double[] {cores, totalMemory, storage, 0});
            }
          }
        }
      }
    }
    return Optimum.Point.efficient(
        all.stream().map(perGpu -> new Optimum.Point(perGpu, speed(perGpu))).toList());
  }
}
