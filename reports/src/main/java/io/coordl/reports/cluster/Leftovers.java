package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Hands out resources that a placement leaves: TUNE gives a job either all it can use or its share,
 * so it leaves cores and memory that a job between the two could use. Single-threaded.
 *
 * <p>The next step is always the one that gains most speed for its resources, each counted as a
 * share of a server. Free resources only shrink, so a job's best step never improves while it is
 * queued: it is recomputed only when it reaches the head.
 */
final class Leftovers {
  /** The smallest gain that is worth a step. */
  private static final double GAIN = 1e-6;

  private final Cluster cluster;
  private final Servers servers;

  /** A placed job, with all points that it may rise to. */
  private static final class Rising {
    final Needs needs;
    final Tenant tenant;
    final List<Optimum.Point> points;

    Rising(Needs needs, Tenant tenant) {
      this.needs = needs;
      this.tenant = tenant;
      points = needs.points();
    }
  }

  /** A job's best step. */
  private record Step(Rising job, Placement to, double value) {}

  private Leftovers(Cluster cluster, Servers servers) {
    this.cluster = cluster;
    this.servers = servers;
  }

  /**
   * Raises placed jobs.
   *
   * @param servers the servers that run them
   * @param needs one for each of {@code tenants}, in their order
   */
  static void handOut(Cluster cluster, Servers servers, List<Needs> needs, List<Tenant> tenants) {
    Leftovers leftovers = new Leftovers(cluster, servers);
    List<Rising> jobs = new ArrayList<>();
    for (int i = 0; i < tenants.size(); i++) {
      if (tenants.get(i).placement != null) {
        jobs.add(new Rising(needs.get(i), tenants.get(i)));
      }
    }
    leftovers.raise(jobs);
  }

  private void move(Rising job, Placement to) {
    servers.giveBack(job.tenant.placed());
    servers.take(to);
    job.tenant.placement = to;
  }

  private void raise(List<Rising> jobs) {
    PriorityQueue<Step> steps =
        new PriorityQueue<>(Comparator.comparingDouble((Step step) -> -step.value()));
    for (Rising job : jobs) {
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

  /** The step that gains most for its resources; null if none fits. */
  private @Nullable Step best(Rising job) {
    Placement from = job.tenant.placed();
    double speed = job.needs.speed(from.perGpu());
    servers.giveBack(from);
    Step best = null;
    for (Optimum.Point point : job.points) {
      double[] perGpu = new double[Resource.COUNT];
      double takes = 0;
      for (int r = 0; r < perGpu.length; r++) {
        perGpu[r] = Math.max(from.perGpu(r), point.perGpu()[r]);
        takes += (perGpu[r] - from.perGpu(r)) / cluster.perServer(r);
      }
      double gain = (job.needs.speed(perGpu) - speed) / job.needs.fairSpeed();
      double value = gain / (job.tenant.gpus * takes);
      if (takes > 0 && gain > GAIN && (best == null || value > best.value())) {
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
