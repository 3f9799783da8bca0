package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;

/**
 * Synergy's first linear program: how much all jobs train together if the cluster were one server.
 * No placement gives more, so it is a bound.
 *
 * <p>Variables are the parts that a class of jobs takes of each point of its table. Their sum is
 * the number of its jobs; the cluster's resources bound what all take; no class trains slower than
 * at its proportional share. The objective is the sum of speeds, each relative to the proportional
 * share. Jobs that are alike are one class: for a linear program that changes nothing.
 */
final class Optimum {
  /** A speed by which a point must exceed another to be worth more. */
  private static final double NOTHING = 1e-12;

  /** A point of a job's table, or a mean of some: what it holds and how fast it trains. */
  static final class Point {
    private final double[] perGpu;
    private final double speed;

    /**
     * @param perGpu of each {@link Resource} for one GPU
     */
    Point(double[] perGpu, double speed) {
      this.perGpu = perGpu;
      this.speed = speed;
    }

    /** Not to be changed. */
    double[] perGpu() {
      return perGpu;
    }

    double speed() {
      return speed;
    }

    /** Those that no other is as fast as with less. */
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

  /** Jobs that are alike. */
  record Alike(int jobs, int gpus, double fairSpeed, List<Point> points) {}

  /**
   * @param total sum of all jobs' speeds, each relative to its proportional share
   * @param means one for each class
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
