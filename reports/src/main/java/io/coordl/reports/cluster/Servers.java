package io.coordl.reports.cluster;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the free resources of each server. Jobs hold GPUs on one or several servers, and a share
 * of the other resources for each GPU.
 */
final class Servers {
  private final Cluster cluster;
  private final int[] freeGpus;
  private final double[][] freeAmounts;
  private final double tolerance;
  private int allFreeGpus;

  /**
   * @param tolerance fraction of a server's resources by which a sum may exceed them: shares such
   *     as 24 cores over 7 GPUs are not exact as doubles
   */
  Servers(Cluster cluster, double tolerance) {
    this.cluster = cluster;
    this.tolerance = tolerance;
    freeGpus = new int[cluster.servers()];
    freeAmounts = new double[cluster.servers()][];
    clear();
  }

  /** Releases everything. */
  void clear() {
    Arrays.fill(freeGpus, cluster.gpusPerServer());
    Arrays.setAll(freeAmounts, server -> cluster.perServer());
    allFreeGpus = cluster.gpus();
  }

  int count() {
    return freeGpus.length;
  }

  int freeGpus() {
    return allFreeGpus;
  }

  int freeGpus(int server) {
    return freeGpus[server];
  }

  double freeAmount(int server, int resource) {
    return freeAmounts[server][resource];
  }

  /** Returns a round that begins with the jobs' current resources. */
  Outcome.Round round(double at, int queued) {
    return new Outcome.Round(
        at,
        queued,
        1 - (double) allFreeGpus / cluster.gpus(),
        used(Resource.CORES),
        used(Resource.MEMORY),
        used(Resource.STORAGE));
  }

  /** Returns the share of this resource that jobs hold across the cluster, from 0 to 1. */
  private double used(int resource) {
    double free = 0;
    for (double[] server : freeAmounts) {
      free += server[resource];
    }
    return 1 - free / (cluster.servers() * cluster.perServer(resource));
  }

  /**
   * Takes free GPUs, GPU by GPU, from the first servers with enough resources for a GPU.
   *
   * @param perGpu amount of each resource per GPU
   * @return null if not all GPUs fit; then nothing is taken
   */
  @Nullable Placement takeFirstFit(int gpus, double[] perGpu) {
    if (gpus > allFreeGpus) {
      return null;
    }
    int[] servers = new int[Math.min(gpus, freeGpus.length)];
    int[] counts = new int[servers.length];
    int used = 0;
    int missing = gpus;
    for (int server = 0; server < freeGpus.length && missing > 0; server++) {
      int fit = fit(server, perGpu, missing);
      if (fit > 0) {
        servers[used] = server;
        counts[used++] = fit;
        missing -= fit;
      }
    }
    if (missing > 0) {
      return null;
    }
    Placement placement =
        new Placement(Arrays.copyOf(servers, used), Arrays.copyOf(counts, used), perGpu);
    take(placement);
    return placement;
  }

  /**
   * Takes all GPUs from one server. Among the servers that have enough, chooses the one with the
   * fewest free GPUs, then the fewest free cores.
   *
   * @return null if no server has enough; then nothing is taken
   */
  @Nullable Placement takeBestFit(int gpus, double[] perGpu) {
    int best = -1;
    for (int server = 0; server < freeGpus.length; server++) {
      if (freeGpus[server] >= gpus
          && (best < 0 || isTighter(server, best))
          && fit(server, perGpu, gpus) == gpus) {
        best = server;
      }
    }
    if (best < 0) {
      return null;
    }
    Placement placement = new Placement(new int[] {best}, new int[] {gpus}, perGpu);
    take(placement);
    return placement;
  }

  private boolean isTighter(int server, int other) {
    return freeGpus[server] < freeGpus[other]
        || (freeGpus[server] == freeGpus[other]
            && freeAmounts[server][Resource.CORES] < freeAmounts[other][Resource.CORES]);
  }

  /**
   * Chooses free GPUs regardless of other resources: on the fullest server with enough GPUs,
   * otherwise across several. Takes nothing.
   *
   * @param gpus at most {@link #freeGpus()}
   */
  Placement anyGpus(int gpus, double[] perGpu) {
    Placement onOneServer = takeBestFit(gpus, new double[Resource.COUNT]);
    Placement any =
        onOneServer == null ? takeFirstFit(gpus, new double[Resource.COUNT]) : onOneServer;
    if (any == null) {
      throw new IllegalArgumentException(
          gpus + " GPUs requested, but only " + allFreeGpus + " are free");
    }
    giveBack(any);
    return any.with(perGpu);
  }

  /** Returns whether all resources of a placement are free. */
  boolean has(Placement placement) {
    for (int i = 0; i < placement.spread(); i++) {
      if (!has(placement, i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a placement's resources on its {@code i}th server are free. */
  boolean has(Placement placement, int i) {
    int gpus = placement.gpus(i);
    return fit(placement.server(i), placement.perGpu(), gpus) == gpus;
  }

  private int fit(int server, double[] perGpu, int maxGpus) {
    int fit = Math.min(freeGpus[server], maxGpus);
    for (int r = 0; r < Resource.COUNT && fit > 0; r++) {
      double remaining = freeAmounts[server][r] + tolerance * cluster.perServer(r);
      int gpus = 0;
      while (gpus < fit && remaining >= perGpu[r]) {
        remaining -= perGpu[r];
        gpus++;
      }
      fit = gpus;
    }
    return fit;
  }

  void take(Placement placement) {
    change(placement, -1);
  }

  void giveBack(Placement placement) {
    change(placement, 1);
  }

  private void change(Placement placement, int sign) {
    for (int i = 0; i < placement.spread(); i++) {
      int server = placement.server(i);
      int gpus = placement.gpus(i);
      freeGpus[server] += sign * gpus;
      allFreeGpus += sign * gpus;
      for (int r = 0; r < Resource.COUNT; r++) {
        freeAmounts[server][r] += sign * gpus * placement.perGpu(r);
      }
    }
  }
}
