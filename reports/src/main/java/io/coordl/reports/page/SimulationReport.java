package io.coordl.reports.page;

import io.coordl.reports.cluster.Allocation;
import io.coordl.reports.cluster.JctStatistics;
import io.coordl.reports.cluster.JobTime;
import io.coordl.reports.cluster.Policy;
import io.coordl.reports.cluster.SimulationRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a page of simulations, serialised to the embedded JSON.
 *
 * @param title what was simulated, on which cluster
 * @param remarks notes on simulations that are not on the page
 */
public record SimulationReport(
    int schemaVersion, String title, List<String> remarks, List<Run> runs) {
  static final int SCHEMA_VERSION = 1;

  /** More curves would not be readable side by side. */
  public static final int MAX_RUNS = 6;

  private static final int POINTS = 100;

  /**
   * One simulation.
   *
   * @param seed seed of the workload; null for a trace
   * @param distribution job completion times by ascending share of jobs; empty without jobs
   */
  record Run(
      String name,
      Policy policy,
      Allocation allocation,
      boolean released,
      @Nullable Long seed,
      JctStatistics jct,
      double makespanSeconds,
      boolean overloaded,
      int unfinished,
      SimulationRun.Utilisation utilisation,
      List<Quantile> distribution,
      List<SimulationRun.Point> timeline) {}

  /** The time within which a share of the jobs, from 0 to 1, completed. */
  record Quantile(double share, double seconds) {}

  /**
   * Creates the report of some simulations, in their order, each with its first seed.
   *
   * @param title what was simulated, on which cluster
   */
  public static SimulationReport of(String title, List<SimulationRun> all) {
    Map<String, SimulationRun> byName = new LinkedHashMap<>();
    boolean severalLoads = all.stream().map(SimulationRun::load).distinct().count() > 1;
    for (SimulationRun run : all) {
      String load = severalLoads ? ", " + run.load() + " jobs/h" : "";
      byName.putIfAbsent(run.policy() + " " + run.allocation() + load, run);
    }
    List<String> remarks = new ArrayList<>();
    if (byName.size() < all.size()) {
      remarks.add(
          "Only the first seed of each run is drawn: coordl simulate prints the means over all"
              + " seeds.");
    }
    if (byName.size() > MAX_RUNS) {
      remarks.add(
          "Only the first %d of %d runs are drawn: coordl simulate prints a line for each."
              .formatted(MAX_RUNS, byName.size()));
    }
    return new SimulationReport(
        SCHEMA_VERSION,
        title,
        remarks,
        byName.entrySet().stream()
            .limit(MAX_RUNS)
            .map(each -> run(each.getKey(), each.getValue()))
            .toList());
  }

  private static Run run(String name, SimulationRun run) {
    return new Run(
        run.released() ? name + ", as released" : name,
        run.policy(),
        run.allocation(),
        run.released(),
        run.seed(),
        run.jct(),
        run.makespanSeconds(),
        run.overloaded(),
        run.unfinished(),
        run.utilisation(),
        distribution(run.jobs()),
        run.timeline());
  }

  private static List<Quantile> distribution(List<JobTime> jobs) {
    double[] sorted = jobs.stream().mapToDouble(JobTime::jctSeconds).sorted().toArray();
    List<Quantile> points = new ArrayList<>();
    for (int i = 0; sorted.length > 0 && i <= POINTS; i++) {
      double share = (double) i / POINTS;
      // Interpolated like the percentiles on the page: linearly between order statistics.
      points.add(new Quantile(share, JctStatistics.quantile(sorted, share)));
    }
    return points;
  }
}
