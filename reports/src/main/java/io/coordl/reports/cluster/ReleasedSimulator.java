package io.coordl.reports.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The simulator released with Synergy (OSDI'22), including its bugs: it reproduces the published
 * runs to the millisecond. For other uses prefer {@link Simulator}. Every oddity here comes from
 * the original:
 *
 * <ul>
 *   <li>A job trains at the speed of its proportional share or, with all it can use, at its full
 *       speed; never in between.
 *   <li>An iteration that a round's end interrupts is lost.
 *   <li>Jobs finish only at the end of a round; starting and moving are free.
 *   <li>SRTF and FTF sort by the speeds of the previous round.
 *   <li>FTF serves first the job that is best off.
 *   <li>The run ends when all jobs that have arrived are finished, even if others have yet to
 *       arrive.
 * </ul>
 *
 * <p>It places GPU by GPU, first fit, as all published runs did. Single-threaded; an instance
 * simulates one run.
 */
final class ReleasedSimulator {
  private static final double ROUND_SECONDS = 300;

  private final Cluster cluster;
  private final Policy policy;
  private final Allocation allocation;
  private final double firstRound;
  private final double[] fair;
  private final Servers servers;
  private final Deque<Job> arriving = new ArrayDeque<>();
  private final List<Job> runnable = new ArrayList<>();
  private final List<Outcome.Round> rounds = new ArrayList<>();

  /** Jobs on each server, in the order in which this round placed them. */
  private final List<List<Job>> placedOn = new ArrayList<>();

  private final class Job {
    final TraceJob trace;
    final JobModel model;
    final double[] demand;
    final double fullSpeed;

    /** Holds the previous round's value until this round's jobs are sorted. */
    double speed;

    double[] request;
    double attained;
    long done;
    long doneBefore;
    @Nullable Placement placement;

    Job(TraceJob trace, JobModel model) {
      this.trace = trace;
      this.model = model;
      double[] perServer = cluster.perServer();
      int gpus = trace.gpus();
      demand =
          new double[] {
            gpus * model.coresPerGpu(),
            gpus * model.memoryGibPerGpu(),
            gpus * model.storageMbsPerGpuUsed(),
            0
          };
      double idealCores = demand[Resource.CORES];
      boolean capped = false;
      double full = model.speedup();
      for (int r = 0; r < Resource.NETWORK; r++) {
        if (demand[r] > perServer[r]) {
          demand[r] = perServer[r];
          capped = true;
          if (gpus > cluster.gpusPerServer()) {
            demand[r] = gpus * perServer[r] / cluster.gpusPerServer();
            full = 1;
            capped = false;
          }
        }
      }
      double fairCores = gpus * fair[Resource.CORES];
      if (capped && idealCores != fairCores) {
        full = 1 + (full - 1) / (idealCores - fairCores) * (demand[Resource.CORES] - fairCores);
      }
      fullSpeed = full;
      speed = full;
      request = demand;
    }

    int gpus() {
      return trace.gpus();
    }

    double[] perGpu() {
      double[] perGpu = request.clone();
      for (int r = 0; r < perGpu.length; r++) {
        perGpu[r] /= gpus();
      }
      return perGpu;
    }

    double remaining() {
      double atFairShare = model.iterationSeconds() * (trace.iterations() - done);
      return allocation == Allocation.PROPORTIONAL ? atFairShare : atFairShare / speed;
    }

    /** Reduces the job to its proportional share if it wants more of any resource. */
    void reduce() {
      for (int r = 0; r < Resource.COUNT; r++) {
        if (request[r] > gpus() * fair[r]) {
          request = fairShare(false);
          speed = 1;
          return;
        }
      }
    }

    double[] fairShare(boolean network) {
      double[] share = new double[Resource.COUNT];
      for (int i = 0; i < share.length; i++) {
        share[i] = i != Resource.NETWORK || network ? gpus() * fair[i] : 0;
      }
      return share;
    }

    void run(Placement at, double factor) {
      placement = at;
      doneBefore = done;
      long steps = (long) Math.floor(ROUND_SECONDS / (model.iterationSeconds() / factor));
      done = Math.min(trace.iterations(), done + steps);
      for (int i = 0; i < at.spread(); i++) {
        placedOn.get(at.server(i)).add(this);
      }
    }

    void stop(Placement at) {
      done = doneBefore;
      for (int i = 0; i < at.spread(); i++) {
        placedOn.get(at.server(i)).remove(this);
      }
      servers.giveBack(at);
    }
  }

  /**
   * @param jobs by arrival
   * @param allAtStart whether the first round starts at 1 s instead of at a round boundary
   */
  ReleasedSimulator(
      Cluster cluster,
      ModelTable models,
      List<TraceJob> jobs,
      Policy policy,
      Allocation allocation,
      boolean allAtStart) {
    this.cluster = cluster;
    this.policy = policy;
    this.allocation = allocation;
    fair = cluster.perGpu();
    servers = new Servers(cluster, 0);
    for (int server = 0; server < cluster.servers(); server++) {
      placedOn.add(new ArrayList<>());
    }
    for (TraceJob job : jobs) {
      arriving.add(new Job(job, models.named(job.model())));
    }
    firstRound = allAtStart ? 1 : Math.ceil(jobs.get(0).arrival() / ROUND_SECONDS) * ROUND_SECONDS;
  }

  Outcome run() throws InputException {
    Map<Long, Double> completed = new HashMap<>();
    double makespan = 0;
    double now = firstRound;
    while (true) {
      arrive(now);
      for (Job job : runnable) {
        if (job.placement != null) {
          job.placement = null;
          job.attained += ROUND_SECONDS;
          makespan = now;
          if (job.done >= job.trace.iterations()) {
            completed.put(job.trace.id(), now - job.trace.arrival());
          }
        }
      }
      servers.clear();
      placedOn.forEach(List::clear);
      runnable.removeIf(job -> completed.containsKey(job.trace.id()));
      if (runnable.isEmpty()) {
        break;
      }
      schedule(now);
      requireProgress();
      now += ROUND_SECONDS;
    }
    List<JobTime> times =
        completed.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(done -> new JobTime(done.getKey(), done.getValue()))
            .toList();
    return new Outcome(times, makespan, false, times.size(), arriving.size(), rounds);
  }

  /** Throws if the original would loop forever. */
  private void requireProgress() throws InputException {
    if (arriving.isEmpty()
        && runnable.stream().allMatch(job -> job.placement == null || job.done == job.doneBefore)) {
      TraceJob first = runnable.get(0).trace;
      throw new InputException(
          "the released simulator never ends: job "
              + first.id()
              + " does not fit, or a step of '"
              + first.model()
              + "' takes longer than a round of 300 s; without --released, the job runs");
    }
  }

  private void arrive(double now) {
    while (!arriving.isEmpty() && arriving.getFirst().trace.arrival() <= now) {
      runnable.add(arriving.removeFirst());
    }
  }

  private void schedule(double now) throws InputException {
    runnable.sort(
        Comparator.comparingDouble(key(now)).thenComparingDouble(job -> job.trace.arrival()));
    for (Job job : runnable) {
      job.request = allocation == Allocation.PROPORTIONAL ? job.fairShare(true) : job.demand;
      job.speed = job.fullSpeed;
    }
    for (Job job : candidates()) {
      if (job.gpus() <= servers.freeGpus()) {
        place(job);
      }
    }
    int placed = (int) runnable.stream().filter(job -> job.placement != null).count();
    rounds.add(servers.round(now, runnable.size() - placed));
  }

  private ToDoubleFunction<Job> key(double now) {
    return switch (policy) {
      case FIFO -> job -> job.trace.arrival();
      case SRTF -> Job::remaining;
      case LAS -> job -> job.attained * job.gpus();
      case FTF ->
          job ->
              (now - job.trace.arrival() + job.remaining())
                  / (job.model.iterationSeconds() * job.trace.iterations());
    };
  }

  /**
   * Returns the jobs to place. LAS selects by GPUs alone, so the GPUs of a selected job that does
   * not fit stay idle.
   */
  private List<Job> candidates() {
    if (policy != Policy.LAS) {
      return runnable;
    }
    List<Job> selected = new ArrayList<>();
    int free = servers.freeGpus();
    for (Job job : runnable) {
      if (job.gpus() <= free) {
        selected.add(job);
        free -= job.gpus();
      }
    }
    if (allocation == Allocation.TUNE) {
      selected.sort(Comparator.comparingInt(Job::gpus).reversed());
    }
    return selected;
  }

  private void place(Job job) throws InputException {
    Placement placement = servers.takeFirstFit(job.gpus(), job.perGpu());
    if (placement == null && allocation == Allocation.TUNE) {
      job.reduce();
      placement = servers.takeFirstFit(job.gpus(), job.perGpu());
      if (placement == null) {
        shrinkNeighbours(job);
        placement = servers.takeFirstFit(job.gpus(), job.perGpu());
      }
      if (placement == null) {
        throw new InputException(
            "the released simulator ends here: job "
                + job.trace.id()
                + " does not fit although its GPUs are free; without --released, it runs");
      }
    }
    if (placement != null) {
      job.run(placement, allocation == Allocation.PROPORTIONAL ? 1 : job.speed);
    }
  }

  private void shrinkNeighbours(Job job) {
    int gpus = job.gpus();
    if (gpus > 1) {
      for (int server = 0; server < servers.count(); server++) {
        if (servers.freeGpus(server) >= gpus) {
          shrinkOn(server, job, gpus);
          return;
        }
      }
    }
    List<Integer> order = new ArrayList<>();
    for (int server = 0; server < servers.count(); server++) {
      if (servers.freeGpus(server) > 0) {
        order.add(server);
      }
    }
    order.sort(Comparator.comparingInt(servers::freeGpus));
    int missing = gpus;
    for (int server : order) {
      int gpusHere = Math.min(servers.freeGpus(server), missing);
      shrinkOn(server, job, gpusHere);
      missing -= gpusHere;
      if (missing == 0) {
        return;
      }
    }
  }

  /** Reduces jobs on a server to their share until {@code gpusHere} of the job's GPUs fit there. */
  private void shrinkOn(int server, Job job, int gpusHere) {
    double[] need = new double[Resource.COUNT];
    for (int r = 0; r < need.length; r++) {
      need[r] = Math.max(0, job.request[r] * gpusHere / job.gpus() - servers.freeAmount(server, r));
    }
    if (isNothing(need)) {
      return;
    }
    List<Job> placed = placedOn.get(server);
    placed.sort(
        Comparator.comparingInt((Job other) -> placement(other).spread())
            .thenComparingDouble(other -> -placement(other).perGpu(Resource.CORES))
            .thenComparingDouble(other -> -placement(other).perGpu(Resource.MEMORY)));
    List<Job> victims = new ArrayList<>();
    for (Job other : placed) {
      victims.add(other);
      Placement current = placement(other);
      for (int r = 0; r < need.length; r++) {
        double excess = current.gpusOn(server) * (current.perGpu(r) - fair[r]);
        need[r] = Math.max(0, need[r] - Math.max(0, excess));
      }
      if (isNothing(need)) {
        break;
      }
    }
    for (Job victim : victims) {
      Placement current = placement(victim);
      victim.stop(current);
      victim.reduce();
      Placement reduced = current.with(victim.perGpu());
      servers.take(reduced);
      victim.run(reduced, 1);
    }
  }

  private static boolean isNothing(double[] need) {
    for (double amount : need) {
      if (amount > 0) {
        return false;
      }
    }
    return true;
  }

  private static Placement placement(Job job) {
    if (job.placement == null) {
      throw new IllegalStateException("job " + job.trace.id() + " is not placed");
    }
    return job.placement;
  }
}
