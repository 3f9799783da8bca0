package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Simulates a scheduler that allocates a cluster in rounds. In each round it sorts the jobs by its
 * {@link Policy}, and a {@link Placer} gives them GPUs, cores, memory and storage rate.
 *
 * <ul>
 *   <li>A job trains at the speed that the {@link ModelTable} gives for its resources.
 *   <li>It ends with its last iteration; the next round reassigns its GPUs.
 *   <li>A job usually keeps its GPUs from round to round. A job that restarts or moves loses {@link
 *       Settings#restartSeconds()}; if that is 0, every round places all jobs anew.
 * </ul>
 *
 * <p>Single-threaded; an instance simulates one run. A round takes O(jobs x servers) steps.
 */
final class Simulator {
  /**
   * Settings of a simulation.
   *
   * @param roundSeconds seconds from one round to the next
   * @param restartSeconds seconds that a job loses when it restarts or moves
   * @param firstRound time of the first round: seconds from the beginning of the trace
   * @param endless whether jobs never stop arriving
   * @param measuredFrom the first id of the jobs to report on
   * @param measuredTo the last such id; the run ends when all of these jobs are finished
   */
  record Settings(
      Policy policy,
      Allocation allocation,
      double roundSeconds,
      double restartSeconds,
      double firstRound,
      boolean endless,
      long measuredFrom,
      long measuredTo) {}

  /** Number of iterations by which a sum of fractions may deviate from a whole number. */
  private static final double ROUNDING = 1e-6;

  /** Limit on arrivals, as a multiple of the number of jobs up to the last measured one. */
  private static final long MAX_ARRIVALS_FACTOR = 20;

  /** Limit on waiting and running jobs per GPU. */
  private static final long MAX_UNFINISHED_PER_GPU = 10;

  /** Arrivals per GPU that are allowed in addition, for runs that measure few jobs. */
  private static final long EXTRA_ARRIVALS_PER_GPU = 100;

  private final Cluster cluster;
  private final ModelTable models;
  private final Settings settings;
  private final Iterator<TraceJob> arriving;
  private final Placer placer;
  private final List<Job> runnable = new ArrayList<>();
  private final List<JobTime> done = new ArrayList<>();
  private int finished;
  private final List<Outcome.Round> rounds = new ArrayList<>();
  private final Map<String, Needs> needsOf = new HashMap<>();
  private final Map<String, Optimum.Point> solution = new LinkedHashMap<>();
  private Map<String, Integer> solvedCounts = Map.of();
  private @Nullable TraceJob next;
  private long measuredDone;
  private double makespan;

  private final class Job {
    final TraceJob trace;
    final JobModel model;
    final Needs needs;
    final Tenant tenant;
    final double fullSpeed;
    double optimalSpeed;
    double remaining;
    double attained;
    boolean started;

    Job(TraceJob trace) {
      this.trace = trace;
      model = models.named(trace.model());
      needs =
          needsOf.computeIfAbsent(
              model.name() + " " + trace.gpus(),
              any -> new Needs(cluster, models, model, trace.gpus(), 0));
      remaining = trace.iterations();
      double[] ideal =
          settings.allocation() == Allocation.PROPORTIONAL ? needs.fair() : needs.ideal();
      fullSpeed = needs.speed(ideal);
      double round = settings.roundSeconds();
      tenant =
          new Tenant(
              trace.gpus(),
              ideal,
              needs.fair(),
              fullSpeed * (round - settings.restartSeconds()) > needs.fairSpeed() * round);
    }

    double remainingSeconds() {
      return remaining * model.iterationSeconds() / fullSpeed;
    }

    /** Returns the seconds from arrival to end if the job ran alone at the proportional share. */
    double alone() {
      return trace.iterations() * model.iterationSeconds() / needs.fairSpeed();
    }

    double speed(Placement at) {
      return settings.allocation() == Allocation.OPT ? optimalSpeed : needs.speed(at.perGpu());
    }
  }

  /**
   * @param jobs by arrival; may be endless if the settings limit the measured ids
   */
  Simulator(Cluster cluster, ModelTable models, Iterator<TraceJob> jobs, Settings settings) {
    this.cluster = cluster;
    this.models = models;
    this.settings = settings;
    arriving = jobs;
    placer = new Placer(cluster, settings.allocation());
    next = jobs.hasNext() ? jobs.next() : null;
  }

  /**
   * Runs the simulation. Ends early if jobs arrive faster than they finish, because jobs of low
   * priority may then never run.
   */
  Outcome run() throws InputException {
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
      if (isOverloaded()) {
        overloaded = true;
        break;
      }
      schedule(now);
      train(now);
      now += round;
    }
    done.sort(Comparator.comparingLong(JobTime::id));
    return new Outcome(done, makespan, overloaded, finished, runnable.size(), rounds);
  }

  /**
   * Returns whether jobs arrive faster than they finish, judged by the number of unfinished jobs
   * and of arrived jobs.
   */
  private boolean isOverloaded() {
    if (!settings.endless() || next == null || next.id() <= settings.measuredTo()) {
      return false;
    }
    long gpus = cluster.gpus();
    return runnable.size() > MAX_UNFINISHED_PER_GPU * gpus
        || next.id()
            > MAX_ARRIVALS_FACTOR * (settings.measuredTo() + 1) + EXTRA_ARRIVALS_PER_GPU * gpus;
  }

  private void schedule(double now) throws InputException {
    runnable.sort(
        Comparator.comparingDouble(key(now)).thenComparingDouble(job -> job.trace.arrival()));
    List<Tenant> tenants = new ArrayList<>(runnable.size());
    for (Job job : runnable) {
      job.tenant.before = settings.restartSeconds() == 0 ? null : job.tenant.placement;
      tenants.add(job.tenant);
    }
    if (settings.allocation() == Allocation.OPT) {
      shareOptimally(now);
      return;
    }
    placer.place(tenants);
    int placed = (int) tenants.stream().filter(tenant -> tenant.placement != null).count();
    rounds.add(placer.servers().round(now, runnable.size() - placed));
  }

  /**
   * Gives each job, in order and if enough GPUs are free, the resources that it would get if the
   * cluster were one server.
   */
  private void shareOptimally(double now) throws InputException {
    Map<String, List<Job>> jobsByClass = new LinkedHashMap<>();
    int free = cluster.gpus();
    int waiting = 0;
    for (Job job : runnable) {
      int gpus = job.trace.gpus();
      job.tenant.placement = null;
      if (gpus <= free) {
        free -= gpus;
        jobsByClass
            .computeIfAbsent(job.model.name() + " " + gpus, any -> new ArrayList<>())
            .add(job);
      } else {
        waiting++;
      }
    }
    double[] used = new double[Resource.COUNT];
    for (Map.Entry<String, Optimum.Point> entry : optimum(jobsByClass).entrySet()) {
      for (Job job : jobsByClass.getOrDefault(entry.getKey(), List.of())) {
        Optimum.Point mean = entry.getValue();
        job.optimalSpeed = mean.speed();
        job.tenant.placement = new Placement(new int[0], new int[0], mean.perGpu());
        for (int r = 0; r < used.length; r++) {
          used[r] += job.trace.gpus() * mean.perGpu()[r] / cluster.servers();
        }
      }
    }
    rounds.add(
        new Outcome.Round(
            now,
            waiting,
            1 - (double) free / cluster.gpus(),
            used[Resource.CORES] / cluster.cores(),
            used[Resource.MEMORY] / cluster.memory(),
            used[Resource.STORAGE] / cluster.storage()));
  }

  /**
   * Returns each class's point in the optimum. Solves the linear program only if the number of jobs
   * of a class has changed.
   */
  private Map<String, Optimum.Point> optimum(Map<String, List<Job>> jobsByClass)
      throws InputException {
    Map<String, Integer> counts = new LinkedHashMap<>();
    jobsByClass.forEach((key, jobs) -> counts.put(key, jobs.size()));
    if (!counts.equals(solvedCounts)) {
      List<Optimum.JobClass> classes =
          jobsByClass.values().stream()
              .map(jobs -> jobs.get(0).needs.jobClass(jobs.size()))
              .toList();
      Iterator<Optimum.Point> means = Optimum.of(cluster, classes).means().iterator();
      solution.clear();
      counts.keySet().forEach(key -> solution.put(key, means.next()));
      solvedCounts = counts;
    }
    return solution;
  }

  private ToDoubleFunction<Job> key(double now) {
    return switch (settings.policy()) {
      case FIFO -> job -> job.trace.arrival();
      case SRTF -> Job::remainingSeconds;
      case LAS -> job -> job.attained * job.trace.gpus();
      // The job that is worst off goes first.
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
      boolean restarts = job.started && (before == null || !at.hasSameGpus(before));
      double lost = restarts ? Math.min(settings.restartSeconds(), settings.roundSeconds()) : 0;
      double seconds = settings.roundSeconds() - lost;
      double perSecond = job.speed(at) / job.model.iterationSeconds();
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
    finished++;
    makespan = Math.max(makespan, at);
    long id = job.trace.id();
    if (id >= settings.measuredFrom() && id <= settings.measuredTo()) {
      measuredDone++;
      done.add(new JobTime(id, at - job.trace.arrival()));
    }
  }
}
