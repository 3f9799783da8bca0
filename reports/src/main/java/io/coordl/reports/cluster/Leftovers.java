package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Distributes resources left over by a placement: TUNE gives a job either all it can use or only
 * its share, so resources that would allow a point in between stay unused. Single-threaded.
 *
 * <p>A step raises one job to a better point. The next step is the one with the largest gain in
 * speed relative to the resources taken, which are measured as shares of a server. Free resources
 * only shrink, so a queued step never improves and is recomputed only when it reaches the head of
 * the queue.
 */
final class Leftovers {
  /** Minimum gain of a step, relative to the fair speed. */
  private static final double MIN_GAIN = 1e-6;

  private final Cluster cluster;
  private final Servers servers;

  /** A placed job, with all points that it may be raised to. */
  private static final class PlacedJob {
    final Needs needs;
    final Tenant tenant;
    final List<Optimum.Point> points;

    PlacedJob(Needs needs, Tenant tenant) {
      this.needs = needs;
      this.tenant = tenant;
      points = needs.points();
    }
  }

  /** A job's best step; {@code value} is its gain relative to the resources taken. */
  private record Step(PlacedJob job, Placement to, double value) {}

  private Leftovers(Cluster cluster, Servers servers) {
    this.cluster = cluster;
    this.servers = servers;
  }

  /**
   * Gives placed jobs more resources, best gain first.
   *
   * @param servers the free resources; this call takes some of them
   * @param needs one for each of {@code tenants}, in the same order
   */
  static void distribute(
      Cluster cluster, Servers servers, List<Needs> needs, List<Tenant> tenants) {
    Leftovers leftovers = new Leftovers(cluster, servers);
    List<PlacedJob> jobs = new ArrayList<>();
    for (int i = 0; i < tenants.size(); i++) {
      if (tenants.get(i).placement != null) {
        jobs.add(new PlacedJob(needs.get(i), tenants.get(i)));
      }
    }
    leftovers.raise(jobs);
  }

  private void move(PlacedJob job, Placement to) {
    servers.giveBack(job.tenant.placed());
    servers.take(to);
    job.tenant.placement = to;
  }

  private void raise(List<PlacedJob> jobs) {
    PriorityQueue<Step> steps =
        new PriorityQueue<>(Comparator.comparingDouble((Step step) -> -step.value()));
    for (PlacedJob job : jobs) {
      add(steps, best(job));
    }
    for (Step first = steps.poll(); first != null; first = steps.poll()) {
      Step again = best(first.job());
      if (again != null && again.value() >= first.value()) {
        move(first.job(), again.to());
        again = best(first.job());
      }
      add(steps, again);
    }
  }

  private static void add(PriorityQueue<Step> steps, @Nullable Step step) {
    if (step != null) {
      steps.add(step);
    }
  }

  /**
   * Returns the step with the largest gain relative to the resources taken; null if no step fits.
   */
  private @Nullable Step best(PlacedJob job) {
    Placement from = job.tenant.placed();
    double speed = job.needs.speed(from.perGpu());
    servers.giveBack(from);
    Step best = null;
    for (Optimum.Point point : job.points) {
      double[] perGpu = new double[Resource.COUNT];
      double cost = 0;
      for (int r = 0; r < perGpu.length; r++) {
        perGpu[r] = Math.max(from.perGpu(r), point.perGpu()[r]);
        cost += (perGpu[r] - from.perGpu(r)) / cluster.perServer(r);
      }
      double gain = (job.needs.speed(perGpu) - speed) / job.needs.fairSpeed();
      double value = gain / (job.tenant.gpus * cost);
      if (cost > 0 && gain > MIN_GAIN && (best == null || value > best.value())) {
        Placement to = from.with(perGpu);
        if (servers.has(to)) {
          best = new Step(job, to, value);
        }
      }
    }
    servers.take(from);
    return best;
  }
}
