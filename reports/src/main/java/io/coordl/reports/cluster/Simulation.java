package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of simulation runs: one per policy, allocation and seed.
 *
 * @param jobs a trace; null if there is a workload
 * @param workload generates the jobs; null if there is a trace
 * @param seeds seeds of the workload; empty for a trace
 * @param allAtStart true if the first round starts at 1 s, for traces whose jobs have all arrived
 *     by then; false if it starts at the first round boundary at or after the first arrival
 * @param useReleasedSimulator whether to run the {@link ReleasedSimulator}
 * @param measured ids of the jobs to report on
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
    boolean useReleasedSimulator,
    Measured measured) {
  private static final double FIRST_ROUND_ALL_AT_START = 1;

  /** Range of job ids, both ends inclusive. */
  public record Measured(long from, long to) {}

  /** Runs all simulations sequentially, in the order of the arguments. */
  public List<SimulationRun> run(List<Policy> policies, List<Allocation> allocations)
      throws InputException {
    List<SimulationRun> runs = new ArrayList<>();
    for (Policy policy : policies) {
      for (Allocation allocation : allocations) {
        if (jobs != null) {
          runs.add(runTrace(policy, allocation, jobs));
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

  private SimulationRun runTrace(Policy policy, Allocation allocation, List<TraceJob> trace)
      throws InputException {
    Outcome end =
        useReleasedSimulator
            ? new ReleasedSimulator(cluster, models, trace, policy, allocation, allAtStart).run()
            : simulator(policy, allocation, trace.iterator(), firstRound(trace)).run();
    return SimulationRun.of(
        policy, allocation, useReleasedSimulator, null, null, end.ofTrace(trace.size()));
  }

  private double firstRound(List<TraceJob> trace) {
    return allAtStart
        ? FIRST_ROUND_ALL_AT_START
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
