package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;

/**
 * Synergy's first linear program: the maximum total speed of all jobs if the cluster were one
 * server. No placement can reach more, so the optimum is a bound.
 *
 * <p>The variables are the number of jobs of a class at each point of its table. For each class
 * they add up to the number of its jobs; all jobs together use at most the cluster's resources; no
 * class trains slower than at its proportional share. The objective is the sum of speeds, each
 * relative to the proportional share. Identical jobs form one class, which does not change the
 * optimum.
 */
final class Optimum {
  /** Differences in speed up to this size are ignored. */
  private static final double TOLERANCE = 1e-12;

  /** A point of a job's table, or the mean of several points: resources and speed. */
  static final class Point {
    private final double[] perGpu;
    private final double speed;

    /**
     * @param perGpu amount of each {@link Resource} per GPU
     */
    Point(double[] perGpu, double speed) {
      this.perGpu = perGpu;
      this.speed = speed;
    }

    /** Returns the amount of each resource per GPU; callers must not change it. */
    double[] perGpu() {
      return perGpu;
    }

    double speed() {
      return speed;
    }

    /**
     * Returns the points that no other point dominates. One point dominates another if it is at
     * least as fast with no more of any resource; of equal points, one is returned.
     */
    static List<Point> efficient(List<Point> points) {
      List<Point> fastestFirst = new ArrayList<>(points);
      fastestFirst.sort(
          Comparator.comparingDouble((Point point) -> -point.speed)
              .thenComparingDouble(point -> point.perGpu[Resource.CORES])
              .thenComparingDouble(point -> point.perGpu[Resource.MEMORY])
              .thenComparingDouble(point -> point.perGpu[Resource.STORAGE]));
      List<Point> efficient = new ArrayList<>();
      for (Point point : fastestFirst) {
        if (efficient.stream().noneMatch(faster -> faster.dominates(point))) {
          efficient.add(point);
        }
      }
      return efficient;
    }

    private boolean dominates(Point other) {
      for (int r = 0; r < Resource.NETWORK; r++) {
        if (perGpu[r] > other.perGpu[r]) {
          return false;
        }
      }
      return speed >= other.speed - TOLERANCE;
    }
  }

  /** A class of identical jobs. */
  record JobClass(int jobs, int gpus, double fairSpeed, List<Point> points) {}

  /**
   * @param total sum of all jobs' speeds, each relative to its proportional share
   * @param means mean point of each class
   */
  record Solution(double total, List<Point> means) {}

  private Optimum() {}

  /**
   * Solves the program for jobs that get GPUs.
   *
   * @throws InputException if it has no solution
   */
  static Solution of(Cluster cluster, List<JobClass> classes) throws InputException {
    ExpressionsBasedModel program = new ExpressionsBasedModel();
    Expression[] used = new Expression[Resource.NETWORK];
    for (int r = 0; r < used.length; r++) {
      used[r] = program.newExpression("used" + r).upper(cluster.servers() * cluster.perServer(r));
    }
    List<List<Variable>> parts = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      JobClass jobClass = classes.get(i);
      Expression all = program.newExpression("all" + i).level(jobClass.jobs());
      Expression minSpeed =
          program
              .newExpression("least" + i)
              .lower(jobClass.jobs() * jobClass.fairSpeed() * (1 - 1e-9));
      List<Variable> classVariables = new ArrayList<>();
      for (Point point : jobClass.points()) {
        Variable part =
            program
                .newVariable("part" + i + "of" + classVariables.size())
                .lower(0)
                .weight(point.speed() / jobClass.fairSpeed());
        classVariables.add(part);
        all.set(part, 1);
        minSpeed.set(part, point.speed());
        for (int r = 0; r < used.length; r++) {
          if (point.perGpu()[r] > 0) {
            used[r].set(part, jobClass.gpus() * point.perGpu()[r]);
          }
        }
      }
      parts.add(classVariables);
    }
    Optimisation.Result result = program.maximise();
    if (!result.getState().isFeasible()) {
      throw new InputException(
          "no allocation gives each of "
              + classes.stream().mapToInt(JobClass::jobs).sum()
              + " jobs at least its proportional share: the linear program is "
              + result.getState());
    }
    return read(classes, parts);
  }

  private static Solution read(List<JobClass> classes, List<List<Variable>> parts) {
    double total = 0;
    List<Point> means = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      JobClass jobClass = classes.get(i);
      double[] perGpu = new double[Resource.COUNT];
      double speed = 0;
      for (int k = 0; k < jobClass.points().size(); k++) {
        double part = parts.get(i).get(k).getValue().doubleValue() / jobClass.jobs();
        Point point = jobClass.points().get(k);
        speed += part * point.speed();
        for (int r = 0; r < Resource.COUNT; r++) {
          perGpu[r] += part * point.perGpu()[r];
        }
      }
      total += jobClass.jobs() * speed / jobClass.fairSpeed();
      means.add(new Point(perGpu, speed));
    }
    return new Solution(total, means);
  }
}
