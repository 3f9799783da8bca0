package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;

/**
 * Synergy's first linear program: how much all jobs could train together if the cluster were one
 * server. No placement gives more, so it is a bound.
 *
 * <p>The variables say how many jobs of a class run at each point of its table. For each class they
 * add up to the number of its jobs; together, the jobs take at most the cluster's resources; no
 * class trains slower than at its proportional share. The objective is the sum of speeds, each
 * relative to the proportional share. Identical jobs form one class, which does not change the
 * optimum.
 */
final class Optimum {
  /** Difference by which a speed must exceed another to count as faster. */
  private static final double NOTHING = 1e-12;

  /** A point of a job's table, or a mean of several: its resources and speed. */
  static final class Point {
    private final double[] perGpu;
    private final double speed;

    /**
     * @param perGpu amount of each {@link Resource} for one GPU
     */
    Point(double[] perGpu, double speed) {
      this.perGpu = perGpu;
      this.speed = speed;
    }

    /** Callers must not change it. */
    double[] perGpu() {
      return perGpu;
    }

    double speed() {
      return speed;
    }

    /** The points for which no other point is as fast with less. */
    static List<Point> efficient(List<Point> points) {
      List<Point> fastestFirst = new ArrayList<>(points);
      fastestFirst.sort(
          Comparator.comparingDouble((Point point) -> -point.speed)
              .thenComparingDouble(point -> point.perGpu[Resource.CORES])
              .thenComparingDouble(point -> point.perGpu[Resource.MEMORY])
              .thenComparingDouble(point -> point.perGpu[Resource.STORAGE]));
      List<Point> efficient = new ArrayList<>();
      for (Point point : fastestFirst) {
        if (efficient.stream().noneMatch(faster -> faster.needsNoMoreThan(point))) {
          efficient.add(point);
        }
      }
      return efficient;
    }

    private boolean needsNoMoreThan(Point other) {
      for (int r = 0; r < Resource.NETWORK; r++) {
        if (perGpu[r] > other.perGpu[r]) {
          return false;
        }
      }
      return speed >= other.speed - NOTHING;
    }
  }

  /** A class of identical jobs. */
  record Alike(int jobs, int gpus, double fairSpeed, List<Point> points) {}

  /**
   * @param total sum of all jobs' speeds, each relative to its proportional share
   * @param means mean point of each class
   */
  record Solution(double total, List<Point> means) {}

  private Optimum() {}

  /**
   * Solves the program for jobs that have GPUs.
   *
   * @throws InputException if it has no solution
   */
  static Solution of(Cluster cluster, List<Alike> classes) throws InputException {
    ExpressionsBasedModel program = new ExpressionsBasedModel();
    Expression[] used = new Expression[Resource.NETWORK];
    for (int r = 0; r < used.length; r++) {
      used[r] = program.newExpression("used" + r).upper(cluster.servers() * cluster.perServer(r));
    }
    List<List<Variable>> parts = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      Alike alike = classes.get(i);
      Expression all = program.newExpression("all" + i).level(alike.jobs());
      Expression least =
          program.newExpression("least" + i).lower(alike.jobs() * alike.fairSpeed() * (1 - 1e-9));
      List<Variable> ofClass = new ArrayList<>();
      for (Point point : alike.points()) {
        Variable part =
            program
                .newVariable("part" + i + "of" + ofClass.size())
                .lower(0)
                .weight(point.speed() / alike.fairSpeed());
        ofClass.add(part);
        all.set(part, 1);
        least.set(part, point.speed());
        for (int r = 0; r < used.length; r++) {
          if (point.perGpu()[r] > 0) {
            used[r].set(part, alike.gpus() * point.perGpu()[r]);
          }
        }
      }
      parts.add(ofClass);
    }
    Optimisation.Result result = program.maximise();
    if (!result.getState().isFeasible()) {
      throw new InputException(
          "no allocation gives each of "
              + classes.stream().mapToInt(Alike::jobs).sum()
              + " jobs at least its proportional share: the linear program is "
              + result.getState());
    }
    return read(classes, parts);
  }

  private static Solution read(List<Alike> classes, List<List<Variable>> parts) {
    double total = 0;
    List<Point> means = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      Alike alike = classes.get(i);
      double[] perGpu = new double[Resource.COUNT];
      double speed = 0;
      for (int k = 0; k < alike.points().size(); k++) {
        double part = parts.get(i).get(k).getValue().doubleValue() / alike.jobs();
        Point point = alike.points().get(k);
        speed += part * point.speed();
        for (int r = 0; r < Resource.COUNT; r++) {
          perGpu[r] += part * point.perGpu()[r];
        }
      }
      total += alike.jobs() * speed / alike.fairSpeed();
      means.add(new Point(perGpu, speed));
    }
    return new Solution(total, means);
  }
}
