package io.coordl.reports.plan;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.Cluster;
import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.Sharing;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An assignment of jobs to the servers of a cluster. Serialised to JSON.
 *
 * @param schemaVersion incremented by incompatible changes
 * @param allocation the allocation that places the jobs
 * @param pools one for each type of GPU
 */
public record Plan(int schemaVersion, Allocation allocation, List<Pool> pools) {
  static final int SCHEMA_VERSION = 1;

  /**
   * Servers with one type of GPU, and their jobs.
   *
   * @param cores cores of each server; likewise the other resources
   */
  public record Pool(
      String gpu,
      int servers,
      int gpusPerServer,
      double cores,
      double memoryGib,
      double storageMbs,
      List<Compared> compared,
      List<Job> jobs,
      @JsonIgnore ClusterFile.Pool file) {}

  /**
   * The result of an allocation.
   *
   * @param speeds sum of all jobs' speeds, each relative to its proportional share; 0 for a waiting
   *     job
   * @param least smallest speed of the jobs that do not wait; 0 if all wait
   * @param ofBound {@code speeds} as a share of the linear program's optimum
   */
  public record Compared(
      Allocation allocation, double speeds, double least, int waiting, double ofBound) {}

  /**
   * A job of the plan.
   *
   * @param servers numbers of its servers, from 0
   * @param cores cores of the whole job; likewise the other resources
   * @param speed relative to its proportional share
   */
  public record Job(
      String name,
      String model,
      int gpus,
      boolean waits,
      List<Sharing.Part> servers,
      double cores,
      double memoryGib,
      double storageMbs,
      double speed,
      @JsonIgnore PlanJob request) {}

  /**
   * Creates a plan for a cluster.
   *
   * @param arguments one per kind of job, by priority
   * @param allocation any but {@link Allocation#OPT}
   */
  public static Plan of(
      Path cluster, List<String> arguments, Allocation allocation, Recordings recordings)
      throws InputException, RecordingException {
    return of(ClusterFile.read(cluster), PlanJob.parse(arguments, recordings), allocation);
  }

  static Plan of(List<ClusterFile.Pool> pools, List<PlanJob> jobs, Allocation allocation)
      throws InputException {
    Map<String, List<PlanJob>> byGpu = new LinkedHashMap<>();
    pools.forEach(pool -> byGpu.put(pool.gpu(), new ArrayList<>()));
    for (PlanJob job : jobs) {
      String gpu = job.gpu() == null && pools.size() == 1 ? pools.get(0).gpu() : job.gpu();
      List<PlanJob> same = gpu == null ? null : byGpu.get(gpu);
      if (same == null) {
        throw new InputException(
            "the job '"
                + job.name()
                + "' "
                + (gpu == null ? "names no GPU" : "requests the GPU '" + gpu + "'")
                + ", but the cluster has "
                + byGpu.keySet()
                + ": gpu= with one of these was expected");
      }
      same.add(job);
    }
    List<Pool> planned = new ArrayList<>();
    for (ClusterFile.Pool pool : pools) {
      planned.add(pool(pool, byGpu.getOrDefault(pool.gpu(), List.of()), allocation));
    }
    return new Plan(SCHEMA_VERSION, allocation, planned);
  }

  private static Pool pool(ClusterFile.Pool pool, List<PlanJob> requests, Allocation allocation)
      throws InputException {
    for (PlanJob job : requests) {
      check(pool.cluster(), job);
    }
    Sharing sharing =
        new Sharing(
            pool.cluster(),
            requests.stream()
                .map(
                    job ->
                        new Sharing.Request(job.table(), job.model(), job.gpus(), job.ownMemory()))
                .toList());
    Map<Allocation, List<Sharing.Share>> shares = new EnumMap<>(Allocation.class);
    for (Allocation each : Allocation.values()) {
      shares.put(each, requests.isEmpty() ? List.of() : sharing.by(each));
    }
    double bound = speeds(shares.getOrDefault(Allocation.OPT, List.of()));
    List<Compared> compared = new ArrayList<>();
    shares.forEach(
        (each, jobShares) ->
            compared.add(
                new Compared(
                    each,
                    speeds(jobShares),
                    jobShares.stream()
                        .filter(share -> !share.waits())
                        .mapToDouble(Sharing.Share::speed)
                        .min()
                        .orElse(0),
                    (int) jobShares.stream().filter(Sharing.Share::waits).count(),
                    bound == 0 ? 0 : speeds(jobShares) / bound)));
    List<Sharing.Share> selected = shares.getOrDefault(allocation, List.of());
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      jobs.add(job(requests.get(i), selected.get(i)));
    }
    Cluster cluster = pool.cluster();
    return new Pool(
        pool.gpu(),
        cluster.servers(),
        cluster.gpusPerServer(),
        cluster.cores(),
        cluster.memory(),
        cluster.storage(),
        compared,
        jobs,
        pool);
  }

  private static void check(Cluster cluster, PlanJob job) throws InputException {
    if (job.gpus() > cluster.gpus()) {
      throw new InputException(
          "the job '"
              + job.name()
              + "' needs "
              + job.gpus()
              + " GPUs, but the cluster has "
              + cluster.gpus()
              + " of its type");
    }
    double share = cluster.memory() / cluster.gpusPerServer() * job.gpus();
    if (job.ownMemory() >= share) {
      throw new InputException(
          String.format(
              Locale.ROOT,
              "the job '%s' needs %.1f GiB besides its cache; its proportional share has %.1f",
              job.name(),
              job.ownMemory(),
              share));
    }
  }

  private static double speeds(List<Sharing.Share> shares) {
    return shares.stream().mapToDouble(Sharing.Share::speed).sum();
  }

  private static Job job(PlanJob request, Sharing.Share share) {
    return new Job(
        request.name(),
        request.model(),
        request.gpus(),
        share.waits(),
        share.parts(),
        share.cores(),
        share.memoryGib(),
        share.storageMbs(),
        share.speed(),
        request);
  }
}
