package io.coordl.reports.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How fast a model trains. The names are those of the table's JSON.
 *
 * @param name its name in traces
 * @param classId null if generated workloads leave it out although they use others
 * @param task the kind of model, such as {@code image}
 * @param coresPerGpu cores of one GPU beyond which it trains no faster
 * @param memoryGibPerGpu GiB of one GPU beyond which it trains no faster
 * @param storageMbsPerGpuUsed MB/s of one GPU that the released simulator sets aside for it
 * @param iterationSeconds of one step at the GPU-proportional share
 * @param speedup its speed-up with all it can use
 * @param datasetGib size of its data set; null if storage does not bound it
 * @param ingestMbsPerGpu MB/s of items that one GPU takes at the GPU-proportional share, from
 *     memory or storage; null if storage does not bound it
 * @param throughput relative to the GPU-proportional share: rows by cores, columns by memory, both
 *     as the axes of the {@link ModelTable}
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
   * MB/s that one GPU reads from storage at the GPU-proportional speed: the part that a
   * never-evicting cache does not hold. This is the law of SiloD (EuroSys'23).
   *
   * @param cachedGib of the whole job
   */
  double storageRate(double cachedGib) {
    return datasetGib == null || ingestMbsPerGpu == null
        ? 0
        : ingestMbsPerGpu * Math.max(0, 1 - cachedGib / datasetGib);
  }
}
