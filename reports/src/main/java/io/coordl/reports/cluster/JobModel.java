package io.coordl.reports.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The training speed of a model and the resources that it can use. Deserialised from the table's
 * JSON. For a recorded job, {@link ModelTable} creates one with the step time at the best speed;
 * the job's {@link DemandTable} gives the speeds and the storage rate.
 *
 * @param name its name in traces
 * @param classId number of its class; null if it has none. If any model has a class, generated
 *     workloads skip the models that have none
 * @param task the kind of model, such as {@code image}
 * @param coresPerGpu cores per GPU beyond which it trains no faster
 * @param memoryGibPerGpu GiB per GPU beyond which it trains no faster
 * @param storageMbsPerGpuUsed MB/s per GPU that the released simulator reserves for it
 * @param iterationSeconds seconds of one step at the GPU-proportional share
 * @param speedup its speed-up with all resources it can use
 * @param datasetGib size of its data set; null if storage does not bound it
 * @param ingestMbsPerGpu MB/s that one GPU consumes at the GPU-proportional share, from memory or
 *     storage; null if storage does not bound it
 * @param throughput speeds relative to the GPU-proportional share: rows by cores, columns by
 *     memory, on the axes of the {@link ModelTable}
 */
record JobModel(
    String name,
    @Nullable Integer classId,
    String task,
    double coresPerGpu,
    double memoryGibPerGpu,
    double storageMbsPerGpuUsed,
    double iterationSeconds,
    double speedup,
    @Nullable Double datasetGib,
    @Nullable Double ingestMbsPerGpu,
    List<List<Double>> throughput) {
  /**
   * Returns MB/s that one GPU reads from storage at the GPU-proportional speed. It reads the share
   * of the items that a cache without eviction does not hold (SiloD, EuroSys'23).
   *
   * @param cachedGib cache of the whole job
   */
  double storageRate(double cachedGib) {
    return datasetGib == null || ingestMbsPerGpu == null
        ? 0
        : ingestMbsPerGpu * Math.max(0, 1 - cachedGib / datasetGib);
  }
}
