package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs simulations: one for each policy, allocation and seed.
 *
 * @param jobs a trace; null if there is a workload
 * @param workload what to generate jobs from; null if there is a trace
 * @param seeds of the workload; none for a trace
 * @param allAtStart whether the first round is one second in: for traces whose jobs have all
 *     arrived by then; else it is the first whole round that sees a job
 * @param measured the first and the last id of the jobs to report on
 */
public record Simulation(
    Cluster cluster,
    ModelTable models,
    @Nullable List<TraceJob> jobs,
    @Nullable Workload workload,
    List<Long> seeds,
    double roundSeconds,
    double restartSeconds,
    boolean allAtStart,
    boolean released,
    Measured measured) {
  private static final double FIRST_ROUND_OF_ALL = 1;

  /** Ids of jobs, both ends included. */
  public record Measured(long from, long to) {}

  /** Runs them one after the other, in the order of the arguments. */
  public List<SimulationRun> run(List<Policy> policies, List<Allocation> allocations)
      throws InputException {
    List<SimulationRun> runs = new ArrayList<>();
    for (Policy policy : policies) {
      for (Allocation allocation : allocations) {
        if (jobs != null) {
          runs.add(of(policy, allocation, jobs));
        } else if (workload != null) {
          for (long seed : seeds) {
            Outcome end =
                simulator(policy, allocation, workload.jobs(models, cluster, seed), roundSeconds)
                    .run();
            runs.add(SimulationRun.of(policy, allocation, false, workload.load(), seed, end));
          }
        }
      }
    }
    return runs;
  }

  private SimulationRun of(Policy policy, Allocation allocation, List<TraceJob> trace)
      throws InputException {
    Outcome end =
        released
            ? new ReleasedSimulator(cluster, models, trace, policy, allocation, allAtStart).run()
            : simulator(policy, allocation, trace.iterator(), firstRound(trace)).run();
    return SimulationRun.of(policy, allocation, released, null, null, end);
  }

  private double firstRound(List<TraceJob> trace) {
    return allAtStart
        ? FIRST_ROUND_OF_ALL
        : Math.ceil(trace.get(0).arrival() / roundSeconds) * roundSeconds;
  }

  private Simulator simulator(
      Policy policy, Allocation allocation, Iterator<TraceJob> arriving, double firstRound) {
    return new Simulator(
        cluster,
        models,
        arriving,
        new Simulator.Settings(
            policy,
            allocation,
            roundSeconds,
            restartSeconds,
            firstRound,
            workload != null,
            measured.from(),
            measured.to()));
  }
}
