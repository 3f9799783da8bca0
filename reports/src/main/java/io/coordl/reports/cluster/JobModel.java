package io.coordl.reports.cluster;

import java.util.List;

/**
 * How fast a model trains. The names are those of the table's JSON.
 *
 * @param name what traces call it
 * @param task the kind of model, such as {@code image}
 * @param coresPerGpu cores of one GPU beyond which it trains no faster
 * @param memoryGibPerGpu GiB of one GPU beyond which it trains no faster
 * @param storageMbsPerGpuInTable MB/s of one GPU at that speed
 * @param storageMbsPerGpuUsed what the released simulator takes in its place
 * @param iterationSeconds of one step at the GPU-proportional share
 * @param speedup how many times as fast it is with all it can use
 * @param throughput relative to the GPU-proportional share: rows by cores, columns by memory, both
 *     as the axes of the {@link ModelTable}
 */
record JobModel(
    String name,
    String task,
    double coresPerGpu,
    double memoryGibPerGpu,
    double storageMbsPerGpuInTable,
    double storageMbsPerGpuUsed,
    double iterationSeconds,
    double speedup,
    List<List<Double>> throughput) {}
