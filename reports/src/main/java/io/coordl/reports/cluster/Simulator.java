package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Simulates a scheduler that assigns a cluster's resources in rounds. In each round it sorts the
 * jobs by its {@link Policy}, and a {@link Placer} gives them GPUs, cores, memory and storage rate.
 *
 * <ul>
 *   <li>A job trains as fast as its {@link ModelTable} says for what it holds.
 *   <li>A job ends with its last iteration; its GPUs are assigned again in the next round.
 *   <li>A job keeps its GPUs from round to round. One that starts again or moves loses {@link
 *       Settings#restartSeconds()}; if that is 0, each round places all jobs from scratch.
 * </ul>
 *
 * <p>One thread; a run is used once. A round takes O(candidates x servers) steps and copies
 * nothing.
 */
final class Simulator {
  /**
   * Settings of a simulation.
   *
   * @param roundSeconds from one round to the next
   * @param restartSeconds that a job loses when it starts again or moves
   * @param firstRound seconds from the beginning of the trace
   * @param measuredFrom the first id of the jobs to report on
   * @param measuredTo the last id; the run ends when all of these jobs have finished
   */
  record Settings(
      Policy policy,
      Allocation allocation,
      double roundSeconds,
      double restartSeconds,
      double firstRound,
      long measuredFrom,
      long measuredTo) {}

  /** Iterations by which a sum of fractions may differ from a whole number. */
  private static final double ROUNDING = 1e-6;

  /**
   * The run is overloaded if this many times the number of measured jobs arrive before those
   * finish.
   */
  private static final long OVERLOADED = 20;

  private final Cluster cluster;
  private final ModelTable models;
  private final Settings settings;
  private final Iterator<TraceJob> arriving;
  private final double[] fair;
  private final Placer placer;
  private final List<Job> runnable = new ArrayList<>();
  private final List<JobTime> done = new ArrayList<>();
  private final List<Outcome.Round> rounds = new ArrayList<>();
  private @Nullable TraceJob next;
  private long measuredDone;
  private double makespan;

  private final class Job {
    final TraceJob trace;
    final JobModel model;
    final Tenant tenant;
    final double fullSpeed;
    double remaining;
    double attained;
    boolean started;

    Job(TraceJob trace) {
      this.trace = trace;
      model = models.named(trace.model());
      remaining = trace.iterations();
      double[] ideal = settings.allocation() == Allocation.PROPORTIONAL ? fair : ideal();
      fullSpeed = speed(ideal);
      double round = settings.roundSeconds();
      tenant =
          new Tenant(
              trace.gpus(),
              ideal,
              fair,
              fullSpeed * (round - settings.restartSeconds()) > speed(fair) * round);
    }

    /** A job within one server can use all of it; in a larger job each GPU gets its part. */
    private double[] ideal() {
      double[] most = cluster.perServer();
      for (int r = 0; r < most.length; r++) {
        most[r] /= Math.min(trace.gpus(), cluster.gpusPerServer());
      }
      double cores = Math.min(model.coresPerGpu(), most[Resource.CORES]);
      double memory = Math.min(model.memoryGibPerGpu(), most[Resource.MEMORY]);
      double unbounded = speed(new double[] {cores, memory, Double.MAX_VALUE, 0});
      double storage = unbounded * model.storageRate(memory * trace.gpus());
      return new double[] {cores, memory, Math.min(storage, most[Resource.STORAGE]), 0};
    }

    double speed(double[] perGpu) {
      return models.speed(model, trace.gpus(), perGpu);
    }

    double remainingSeconds() {
      return remaining * model.iterationSeconds() / fullSpeed;
    }

    /** Seconds from its arrival to its end, alone at the proportional share. */
    double alone() {
      return trace.iterations() * model.iterationSeconds();
    }
  }

  /**
   * @param jobs by arrival; may be endless if the settings say which are measured
   */
  Simulator(Cluster cluster, ModelTable models, Iterator<TraceJob> jobs, Settings settings) {
    this.cluster = cluster;
    this.models = models;
    this.settings = settings;
    arriving = jobs;
    fair = cluster.perGpu();
    placer = new Placer(cluster, settings.allocation());
    next = jobs.hasNext() ? jobs.next() : null;
  }

  /**
   * Ends early if measured jobs are still unfinished long after they have arrived: the cluster's
   * GPUs are then overloaded, and jobs of low priority may never run.
   */
  Outcome run() {
    double round = settings.roundSeconds();
    long measured = settings.measuredTo() - settings.measuredFrom() + 1;
    double now = settings.firstRound();
    boolean overloaded = false;
    while (measuredDone < measured && (next != null || !runnable.isEmpty())) {
      if (runnable.isEmpty() && next != null && next.arrival() > now) {
        now += Math.ceil((next.arrival() - now) / round) * round;
      }
      while (next != null && next.arrival() <= now) {
        runnable.add(new Job(next));
        next = arriving.hasNext() ? arriving.next() : null;
      }
      if (next != null && next.id() / OVERLOADED > settings.measuredTo()) {
        overloaded = true;
        break;
      }
      schedule(now);
      train(now);
      now += round;
    }
    done.sort(Comparator.comparingLong(JobTime::id));
    return new Outcome(done, makespan, overloaded, runnable.size(), rounds);
  }

  private void schedule(double now) {
    runnable.sort(
        Comparator.comparingDouble(key(now)).thenComparingDouble(job -> job.trace.arrival()));
    List<Tenant> tenants = new ArrayList<>(runnable.size());
    for (Job job : runnable) {
      job.tenant.before = settings.restartSeconds() == 0 ? null : job.tenant.placement;
      tenants.add(job.tenant);
    }
    placer.place(tenants);
    int placed = (int) tenants.stream().filter(tenant -> tenant.placement != null).count();
    Servers servers = placer.servers();
    rounds.add(
        new Outcome.Round(
            now,
            runnable.size() - placed,
            servers.usedGpus(),
            servers.used(Resource.CORES),
            servers.used(Resource.MEMORY),
            servers.used(Resource.STORAGE)));
  }

  private ToDoubleFunction<Job> key(double now) {
    return switch (settings.policy()) {
      case FIFO -> job -> job.trace.arrival();
      case SRTF -> Job::remainingSeconds;
      case LAS -> job -> job.attained * job.trace.gpus();
      // The job that is worst off comes first.
      case FTF -> job -> -(now - job.trace.arrival() + job.remainingSeconds()) / job.alone();
    };
  }

  private void train(double now) {
    for (Job job : runnable) {
      Placement at = job.tenant.placement;
      if (at == null) {
        continue;
      }
      Placement before = job.tenant.before;
      boolean again = job.started && (before == null || !at.sameGpus(before));
      double lost = again ? Math.min(settings.restartSeconds(), settings.roundSeconds()) : 0;
      double seconds = settings.roundSeconds() - lost;
      double perSecond = job.speed(at.perGpu()) / job.model.iterationSeconds();
      job.started = true;
      job.attained += settings.roundSeconds();
      if (job.remaining <= seconds * perSecond + ROUNDING) {
        end(job, now + lost + job.remaining / perSecond);
      } else {
        job.remaining -= seconds * perSecond;
      }
    }
    runnable.removeIf(job -> job.remaining == 0);
  }

  private void end(Job job, double at) {
    job.remaining = 0;
    makespan = Math.max(makespan, at);
    long id = job.trace.id();
    if (id >= settings.measuredFrom() && id <= settings.measuredTo()) {
      measuredDone++;
      done.add(new JobTime(id, at - job.trace.arrival()));
    }
  }
}
