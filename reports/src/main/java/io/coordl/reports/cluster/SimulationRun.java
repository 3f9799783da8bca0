package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of a simulation, serialised to JSON.
 *
 * @param released whether the run reproduces the simulator released with Synergy, including its
 *     bugs
 * @param load jobs an hour of the workload; null for a trace
 * @param seed seed of the workload; null for a trace
 * @param makespanSeconds seconds from the beginning of the trace to the end of the last job
 * @param jobs job completion times by id
 * @param overloaded whether the run ended early because jobs arrived faster than they finished
 * @param unfinished jobs not finished when the simulation ended: of the whole trace or, if the jobs
 *     are generated, of those that had arrived
 * @param utilisation mean shares of the cluster that jobs held, over the rounds with jobs
 * @param timeline state over time, in at most {@value #POINTS} points
 */
public record SimulationRun(
    Policy policy,
    Allocation allocation,
    boolean released,
    @Nullable Double load,
    @Nullable Long seed,
    JctStatistics jct,
    double makespanSeconds,
    boolean overloaded,
    int unfinished,
    Utilisation utilisation,
    List<JobTime> jobs,
    List<Point> timeline) {
  static final int POINTS = 500;

  /** Shares of the cluster from 0 to 1. */
  public record Utilisation(double gpus, double cores, double memory, double storage) {
    static Utilisation mean(List<Outcome.Round> rounds) {
      return new Utilisation(
          rounds.stream().mapToDouble(Outcome.Round::gpus).average().orElse(0),
          rounds.stream().mapToDouble(Outcome.Round::cores).average().orElse(0),
          rounds.stream().mapToDouble(Outcome.Round::memory).average().orElse(0),
          rounds.stream().mapToDouble(Outcome.Round::storage).average().orElse(0));
    }
  }

  /** Means over consecutive rounds, the first of which begins at {@code atSeconds}. */
  public record Point(double atSeconds, double queued, Utilisation utilisation) {}

  static SimulationRun of(
      Policy policy,
      Allocation allocation,
      boolean released,
      @Nullable Double load,
      @Nullable Long seed,
      Outcome outcome) {
    List<JobTime> jobs = outcome.jobs().stream().map(SimulationRun::toTheMillisecond).toList();
    return new SimulationRun(
        policy,
        allocation,
        released,
        load,
        seed,
        JctStatistics.of(jobs),
        outcome.makespan(),
        outcome.overloaded(),
        outcome.unfinished(),
        Utilisation.mean(outcome.rounds()),
        jobs,
        timeline(outcome.rounds()));
  }

  private static JobTime toTheMillisecond(JobTime job) {
    return new JobTime(job.id(), Math.rint(job.jctSeconds() * 1000) / 1000);
  }

  private static List<Point> timeline(List<Outcome.Round> rounds) {
    int length = (rounds.size() + POINTS - 1) / POINTS;
    List<Point> points = new ArrayList<>();
    for (int from = 0; from < rounds.size(); from += length) {
      List<Outcome.Round> part = rounds.subList(from, Math.min(rounds.size(), from + length));
      points.add(
          new Point(
              part.get(0).at(),
              part.stream().mapToInt(Outcome.Round::queued).average().orElse(0),
              Utilisation.mean(part)));
    }
    return points;
  }
}
