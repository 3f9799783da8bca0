package io.coordl.reports.cluster;

import io.coordl.telemetry.advice.Student;
import io.coordl.telemetry.advice.Text;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Simulations as a table: one line for each policy and allocation, means over the seeds. */
public final class SimulationText {
  private static final double SECONDS_PER_HOUR = 3600;

  private SimulationText() {}

  /**
   * Returns the lines. Times are in hours; with several seeds, the mean over seeds has a 95 %
   * confidence interval.
   */
  public static List<String> lines(Simulation simulation, List<SimulationRun> runs) {
    Cluster cluster = simulation.cluster();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s on %s with %s, %s cores, %s GiB, %s MB/s%s",
            jobs(simulation, runs),
            Text.count(cluster.servers(), "server", "servers, each"),
            Text.count(cluster.gpusPerServer(), "GPU", "GPUs"),
            number(cluster.cores()),
            number(cluster.memory()),
            number(cluster.storage()),
            simulation.useReleasedSimulator()
                ? "; reproduces the released simulator, including its bugs"
                : ""));
    lines.add(
        row(
            "policy",
            "allocation",
            "mean JCT h",
            "p50 h",
            "p95 h",
            "p99 h",
            "makespan",
            "GPUs",
            "cores",
            "memory",
            "storage"));
    Map<String, List<SimulationRun>> groups = new LinkedHashMap<>();
    for (SimulationRun run : runs) {
      groups
          .computeIfAbsent(run.policy() + " " + run.allocation(), any -> new ArrayList<>())
          .add(run);
    }
    groups
        .values()
        .forEach(group -> lines.add(isOverloaded(group) ? overloaded(group) : line(group)));
    for (Policy policy : new LinkedHashSet<>(runs.stream().map(SimulationRun::policy).toList())) {
      ratio(
              policy,
              runs(groups, policy, Allocation.PROPORTIONAL),
              runs(groups, policy, Allocation.TUNE))
          .ifPresent(lines::add);
    }
    for (SimulationRun run : runs) {
      if (run.unfinished() > 0 && run.seed() == null) {
        lines.add(
            "%s, %s: the run ended with %s of the trace unfinished"
                .formatted(
                    run.policy(), run.allocation(), Text.count(run.unfinished(), "job", "jobs")));
      }
    }
    return lines;
  }

  private static List<SimulationRun> runs(
      Map<String, List<SimulationRun>> groups, Policy policy, Allocation allocation) {
    return groups.getOrDefault(policy + " " + allocation, List.of());
  }

  /**
   * Returns the ratio of mean times, paired by seed: both allocations simulate the same jobs, so
   * pairing makes the error of the ratio smaller.
   */
  private static Optional<String> ratio(
      Policy policy, List<SimulationRun> proportional, List<SimulationRun> tune) {
    if (proportional.isEmpty() || tune.isEmpty()) {
      return Optional.empty();
    }
    if (isOverloaded(proportional) || isOverloaded(tune)) {
      return Optional.of(policy + ": no ratio of proportional to tune, because jobs wait forever");
    }
    Map<Long, Double> means = new HashMap<>();
    proportional.forEach(run -> means.put(seed(run), run.jct().meanSeconds()));
    return Optional.of(
        policy
            + ": mean JCT, proportional / tune: "
            + interval(
                tune, run -> means.getOrDefault(seed(run), Double.NaN) / run.jct().meanSeconds()));
  }

  private static long seed(SimulationRun run) {
    return run.seed() == null ? 0 : run.seed();
  }

  private static String jobs(Simulation simulation, List<SimulationRun> runs) {
    int count = runs.isEmpty() ? 0 : runs.get(0).jct().jobs();
    return simulation.workload() == null
        ? Text.count(count, "job", "jobs")
        : String.format(
            Locale.ROOT,
            "%s (%d to %d of a workload of %s jobs an hour, %s)",
            Text.count(count, "job", "jobs"),
            simulation.measured().from(),
            simulation.measured().to(),
            number(simulation.workload().load()),
            simulation.seeds().size() == 1 ? "seed 1" : "seeds 1 to " + simulation.seeds().size());
  }

  private static boolean isOverloaded(List<SimulationRun> group) {
    return group.stream().anyMatch(run -> run.seed() != null && run.overloaded());
  }

  /** Reports overload, because means over the finished jobs alone would be misleading. */
  private static String overloaded(List<SimulationRun> group) {
    SimulationRun first = group.get(0);
    return String.format(
        Locale.ROOT,
        "%-7s %-13s overloaded: jobs wait forever (%s of the GPUs held)",
        first.policy(),
        first.allocation(),
        percent(group, run -> run.utilisation().gpus()));
  }

  private static String line(List<SimulationRun> group) {
    SimulationRun first = group.get(0);
    return row(
        first.policy(),
        first.allocation(),
        interval(group, run -> run.jct().meanSeconds() / SECONDS_PER_HOUR),
        hours(group, run -> run.jct().p50Seconds()),
        hours(group, run -> run.jct().p95Seconds()),
        hours(group, run -> run.jct().p99Seconds()),
        hours(group, SimulationRun::makespanSeconds),
        percent(group, run -> run.utilisation().gpus()),
        percent(group, run -> run.utilisation().cores()),
        percent(group, run -> run.utilisation().memory()),
        percent(group, run -> run.utilisation().storage()));
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%-7s %-13s %15s %8s %8s %8s %9s  %5s %6s %7s %8s", cells)
        .stripTrailing();
  }

  private static String interval(
      List<SimulationRun> group, ToDoubleFunction<SimulationRun> figure) {
    double mean = mean(group, figure);
    if (group.size() == 1) {
      return String.format(Locale.ROOT, "%.3f", mean);
    }
    double squares = 0;
    for (SimulationRun run : group) {
      squares += Math.pow(figure.applyAsDouble(run) - mean, 2);
    }
    double error =
        Student.t(group.size() - 1) * Math.sqrt(squares / (group.size() - 1) / group.size());
    return String.format(Locale.ROOT, "%.2f \u00b1 %.2f", mean, error);
  }

  private static String hours(List<SimulationRun> group, ToDoubleFunction<SimulationRun> seconds) {
    return String.format(Locale.ROOT, "%.2f", mean(group, seconds) / SECONDS_PER_HOUR);
  }

  private static String percent(List<SimulationRun> group, ToDoubleFunction<SimulationRun> share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * mean(group, share));
  }

  static String number(double value) {
    return new DecimalFormat("0.###", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(value);
  }

  private static double mean(List<SimulationRun> group, ToDoubleFunction<SimulationRun> figure) {
    return group.stream().mapToDouble(figure).average().orElse(0);
  }
}
