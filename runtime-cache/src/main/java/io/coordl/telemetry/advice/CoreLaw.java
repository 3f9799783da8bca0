package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.Figures;

/**
 * Computes how much preparation in parallel with the steps costs a job if cores are short. A job
 * has two resources: the time of its training thread, part of which is lost to waits, and its
 * cores. Preparation on another thread, of the program, the library or the agent, is not a wait,
 * but takes a share of the cores from the steps. Removing it gives that share back. So the job's
 * time has two lower bounds: the time without the waits and the share, and the remaining CPU time
 * divided by the cores. CPU time of the JVM's compilers does not count as remaining, because the
 * JVM compiles less and less.
 *
 * <p>Preparation also slows steps down by more than its CPU time shows: they find their caches
 * evicted and their hyper-thread shared. So without preparation, steps may become as fast as the
 * fastest tenth of them were ({@link #atMost}).
 *
 * <p>All times are nanoseconds.
 */
public final class CoreLaw {
  /** Cores are short if the job's CPU time is at least this share of the time of its cores. */
  private static final double CROWDED = 0.9;

  /**
   * Minimum of {@link #own}, as a share of the wall time. Below it, no correction for other
   * programs is reliable.
   */
  private static final double MIN_OWN = 0.1;

  /**
   * Other threads compute, too, if the program's CPU time without preparation is more than this
   * multiple of its training thread's time.
   */
  private static final double ONE_THREAD = 1.05;

  private final double wall;
  private final double waits;
  private final double compute;
  private final double cpu;
  private final double compilerCpu;
  private final double collectorCpu;
  private final double cores;
  private final double work;

  /** Time by which preparation may have slowed steps down. */
  private final double slow;

  /** Cores that the steps keep busy, at least one. */
  private final double stepCores;

  private final double running;
  private final double parallelPrep;
  private final double share;
  private final double computeWait;
  private final double prepWait;
  private final double maxShare;

  /**
   * @param figures figures of the analysed epochs
   * @param cores cores that the job may use; 0 if unknown
   */
  public CoreLaw(Figures figures, double cores) {
    this.wall = figures.wall;
    this.compute = figures.compute;
    this.waits = figures.dataStall();
    this.cpu = figures.cpu;
    this.compilerCpu = figures.compilerCpu;
    this.collectorCpu = figures.collectorCpu;
    this.computeWait = figures.computeCoreWait;
    this.cores = cores;
    this.work = figures.work();
    long pauses = Math.max(0, figures.gcPauses - figures.gcStall);
    this.running = work == 0 ? 1 : Math.max(0, 1 - figures.prepCoreWait / work);
    // Steps may differ by nature. Preparation slows them by at most the time it ran, and a shared
    // hyper-thread at most halves the speed of a core.
    double possible = Math.min(running * work, compute / 2);
    double slowed = Math.min(possible, (double) figures.slowSteps - pauses);
    boolean isAlone = cores > 0 && cores <= 1; // Nothing else runs while a step does.
    this.slow = isAlone ? 0 : Math.max(0, slowed);
    this.parallelPrep = Math.max(0, running * work - waits);
    // If other threads prepare, it is unknown how much their waits for a core lengthen the stalls.
    double preparing = figures.fetchStall + (double) figures.prepStall;
    this.prepWait = parallelPrep == 0 ? Math.min((double) figures.prepCoreWait, preparing) : 0;
    double room = isKnown() ? Math.max(0, wall - waits - left(work)) : 0;
    // A step also takes longer if a thread of its engine waits for a core.
    double stepCpu = remaining(work);
    double threadTime = compute + (double) figures.checkpoint + figures.betweenEpochs();
    boolean usesThreads = cpu == 0 || cores <= 1 || stepCpu > ONE_THREAD * threadTime;
    this.stepCores = Math.max(1, Math.min(cores, stepCpu / Math.max(1, threadTime)));
    long engine = usesThreads ? figures.coreWait - figures.prepCoreWait - figures.jvmCoreWait : 0;
    double steps = (double) Math.max(figures.computeCoreWait, engine);
    boolean isMeasured = figures.coreWait > 0;
    double bound = Math.min(parallelPrep, Math.min(compute, room));
    this.share = isMeasured ? Math.min(computeWait, bound) : isFull() ? bound : 0;
    this.maxShare = isMeasured ? Math.min(steps, bound) : share;
  }

  private boolean isKnown() {
    return cpu > 0 && cores > 0;
  }

  /** Returns the share of the self times of preparation during which its threads had a core. */
  public double running() {
    return running;
  }

  /** Returns the least time that the cores need once that much work is removed. */
  private double left(double removed) {
    return remaining(removed) / cores;
  }

  /**
   * Returns the CPU time that remains once that much work is removed. The JVM compiles less and
   * less, and removed work makes no garbage.
   */
  private double remaining(double removed) {
    double garbage = collectorCpu * part(removed);
    return Math.max(0, cpu - compilerCpu - garbage - running * removed);
  }

  /** Returns the removed work as a share of all preparation, at most 1. */
  private double part(double removed) {
    return work == 0 ? 0 : Math.min(1, removed / work);
  }

  /**
   * Returns the time that preparation takes from the steps: at most what the training thread waited
   * for a core, or an estimate if no waits for cores were measured.
   */
  public double share() {
    return share;
  }

  /** Returns an upper bound on {@link #share}. */
  public double maxShare() {
    return maxShare;
  }

  /**
   * Returns the most time that removing a part of the work can give back to the steps.
   *
   * @param removed self time of the work that is no longer done
   * @param waited waits for that work, which are saved, too
   */
  double givenBack(double removed, double waited) {
    return parallelPrep == 0
        ? 0
        : maxShare * Math.min(1, Math.max(0, running * removed - waited) / parallelPrep);
  }

  /**
   * Returns the maximum speed-up of the job if this much work and this many nanoseconds of waiting
   * are removed. Work that only moves to another thread is not removed.
   */
  public double gain(long removed, long waited) {
    return gain(removed, waited, 0, 0);
  }

  /**
   * As {@link #gain(long, long)}, if {@code spared} nanoseconds of other CPU time, such as that of
   * collectors, are also saved.
   */
  double gain(long removed, long waited, double spared) {
    return gain(removed, waited, spared, 0);
  }

  /** As {@link #gain(long, long)}, if steps become as fast as the fastest were. */
  double atMost(long removed, long waited) {
    return gain(removed, waited, 0, slow);
  }

  private double gain(long removed, long waited, double spared, double slowSteps) {
    double savedWork = Math.max(0, (double) removed);
    double savedWait = Math.max(0, (double) waited);
    // Waits for hand-over and for collectors are not waits for preparation.
    double ofWork = Math.min(savedWait, waits * part(savedWork));
    double faster = slowSteps * part(savedWork);
    double steps = wall - savedWait - Math.max(givenBack(savedWork, ofWork), faster);
    double more = spared + stepCores * Math.max(0, faster - computeWait);
    double bound = isKnown() ? Math.max(steps, Math.max(0, left(savedWork) - more / cores)) : steps;
    return wall <= 0 ? 1 : Math.min(100, Math.max(1, wall / Math.max(wall / 100, bound)));
  }

  /**
   * Whether the training thread waited for cores that this job did not keep busy. Times then depend
   * on other programs as much as on the job.
   */
  public boolean isMachineBusy() {
    return !isFull() && lost() - share >= Evidence.WORTH_A_CHANGE * wall && wall > 0;
  }

  /** Returns the time for which the training thread had no core, in steps and in preparation. */
  private double lost() {
    return computeWait + prepWait;
  }

  /**
   * Returns the part of the time without a core that falls into preparation by the training thread.
   */
  public double lostInPreparation() {
    return prepWait;
  }

  /**
   * Returns the wall time less the time for which the training thread had no core, but at least a
   * tenth of the wall time.
   */
  public double own() {
    return Math.max(MIN_OWN * wall, wall - lost());
  }

  /** Whether the job keeps its cores busy, so that more threads have none to run on. */
  public boolean isFull() {
    return isKnown() && cpu >= CROWDED * cores * wall;
  }
}
