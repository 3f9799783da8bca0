package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Assigns a cluster's resources to jobs, once per round.
 *
 * <p>TUNE (Synergy, OSDI'22): if a job does not fit with all it can use, it is reduced to its
 * proportional share; if that does not fit either, its neighbours give back their excess over their
 * own share. So no job trains slower than at its proportional share, and none waits while enough
 * GPUs are free. Single-threaded.
 */
final class Placer {
  /**
   * Fraction of a server by which sums of shares may exceed it, because shares are rarely exact as
   * doubles.
   */
  private static final double ROUNDING = 1e-6;

  private final Allocation allocation;
  private final double[] fair;
  private final Servers servers;

  /** Jobs on each server. */
  private final List<List<Tenant>> placedOn = new ArrayList<>();

  Placer(Cluster cluster, Allocation allocation) {
    this.allocation = allocation;
    fair = cluster.perGpu();
    servers = new Servers(cluster, ROUNDING);
    for (int server = 0; server < cluster.servers(); server++) {
      placedOn.add(new ArrayList<>());
    }
  }

  Servers servers() {
    return servers;
  }

  /**
   * Releases everything and places the jobs anew.
   *
   * @param jobs by priority, highest first; the caller has set {@link Tenant#before}
   */
  void place(List<Tenant> jobs) {
    servers.clear();
    placedOn.forEach(List::clear);
    jobs.forEach(job -> job.placement = null);
    if (allocation == Allocation.GREEDY) {
      placeGreedily(jobs);
    } else {
      placeAll(selectByFreeGpus(jobs));
    }
  }

  /**
   * Places jobs in order with all they can use. If one job does not fit, later identical jobs do
   * not fit either, because free resources only shrink.
   */
  private void placeGreedily(List<Tenant> jobs) {
    Set<double[]> refused = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Tenant job : jobs) {
      if (servers.freeGpus() == 0) {
        return;
      }
      if (job.gpus <= servers.freeGpus()
          && !tryToStay(job, job.ideal)
          && !refused.contains(job.ideal)
          && !tryToFit(job, job.ideal)) {
        refused.add(job.ideal);
      }
    }
  }

  private List<Tenant> selectByFreeGpus(List<Tenant> jobs) {
    List<Tenant> selected = new ArrayList<>();
    int free = servers.freeGpus();
    for (Tenant job : jobs) {
      if (free == 0) {
        break;
      }
      if (job.gpus <= free) {
        selected.add(job);
        free -= job.gpus;
      }
    }
    return selected;
  }

  /**
   * Places the jobs that keep their GPUs, moves those for which moving pays, and then places the
   * others, largest first.
   */
  private void placeAll(List<Tenant> jobs) {
    List<Tenant> others = new ArrayList<>();
    for (Tenant job : jobs) {
      if (job.before == null) {
        others.add(job);
      } else if (!tryToStay(job, job.ideal) && !tryToStay(job, job.share)) {
        shrinkNeighbours(job.before.with(job.share));
        tryToStay(job, job.share);
      }
    }
    for (Tenant job : jobs) {
      if (job.placement != null && job.movingPays && job.placement.perGpu() == job.share) {
        tryToMove(job, job.placement);
      }
    }
    others.sort(
        Comparator.comparingInt((Tenant job) -> -job.gpus)
            .thenComparingDouble(job -> -job.ideal[Resource.CORES])
            .thenComparingDouble(job -> -job.ideal[Resource.MEMORY]));
    for (Tenant job : others) {
      if (!tryToFit(job, job.ideal) && !tryToFit(job, job.share)) {
        Placement gpus = servers.anyGpus(job.gpus, job.share);
        shrinkNeighbours(gpus);
        take(job, gpus);
      }
    }
  }

  private boolean tryToStay(Tenant job, double[] perGpu) {
    if (job.before == null) {
      return false;
    }
    Placement same = job.before.with(perGpu);
    boolean free = servers.has(same);
    if (free) {
      take(job, same);
    }
    return free;
  }

  private void take(Tenant job, Placement placement) {
    servers.take(placement);
    hold(job, placement);
  }

  private boolean tryToFit(Tenant job, double[] perGpu) {
    Placement placement = servers.takeBestFit(job.gpus, perGpu);
    if (placement == null) {
      placement = servers.takeFirstFit(job.gpus, perGpu);
    }
    if (placement != null) {
      hold(job, placement);
    }
    return placement != null;
  }

  private void hold(Tenant job, Placement placement) {
    job.placement = placement;
    for (int i = 0; i < placement.spread(); i++) {
      placedOn.get(placement.server(i)).add(job);
    }
  }

  private void tryToMove(Tenant job, Placement from) {
    servers.giveBack(from);
    Placement better = servers.takeBestFit(job.gpus, job.ideal);
    if (better == null) {
      servers.take(from);
      return;
    }
    for (int i = 0; i < from.spread(); i++) {
      placedOn.get(from.server(i)).remove(job);
    }
    hold(job, better);
  }

  /**
   * Reduces jobs that hold more than their share, largest excess first, until {@code target} is
   * free. This always succeeds: if all jobs are at their share, each free GPU has its own share
   * left.
   */
  private void shrinkNeighbours(Placement target) {
    for (int i = 0; i < target.spread(); i++) {
      List<Tenant> tenants = placedOn.get(target.server(i));
      while (!servers.has(target, i)) {
        Tenant largest =
            tenants.stream()
                .filter(Tenant::canShrink)
                .max(Comparator.comparingDouble(job -> job.excess(fair)))
                .orElseThrow(() -> new IllegalStateException("no neighbour can give back"));
        Placement current = largest.placed();
        servers.giveBack(current);
        largest.placement = current.with(largest.share);
        servers.take(largest.placed());
      }
    }
  }
}
