package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.ArrayList;
import java.util.List;

/**
 * How many threads must prepare, and how many cores that takes, until the job no longer waits for
 * them: k*. Looks at how preparation becomes faster with threads.
 */
final class WorkersNeeded implements Question {
  private static final int MOST = 64;

  @Override
  public String name() {
    return "cores";
  }

  @Override
  public String title() {
    return "Workers and cores needed";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        new ArrayList<>(pipeline.missing("computeNanos", "prepNanos", "missNanos", "todayHit"));
    if (wishes.cores() == null) {
      missing.addAll(pipeline.missing("cores"));
    } else if (pipeline.cores() == 0 && pipeline.computeCores() == null) {
      missing.add(
          new Missing(
              "computeCores",
              "how many of the cores a step keeps busy: an ordinary run does not show it; say it"
                  + " with --compute-cores (0 for an accelerator)."));
    }
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    double cores = wishes.cores() == null ? pipeline.cores() : wishes.cores();
    Measure workers = pipeline.figure(costs -> Math.min(MOST, workers(costs)));
    Measure coresNeeded = pipeline.figure(costs -> cores(costs));
    boolean saturates = workers.value() >= MOST;
    Setup with = today.cores(cores).workers(Math.max(1, Math.ceil(workers.value())));
    return new Answer(
        name(),
        title(),
        (saturates
                ? tooMany(pipeline)
                : "k* = "
                    + Text.format("%.0f", Math.max(1, Math.ceil(workers.value())))
                    + " workers ("
                    + Sketch.number(workers)
                    + ") on "
                    + Sketch.number(coresNeeded)
                    + (isFetchingTheLimit(pipeline, workers.value())
                        ? " cores would keep up with the steps, but fetching does not; "
                        : " cores keep up with the steps; "))
            + "with "
            + Text.format("%.0f", cores)
            + " cores the job then runs at "
            + Sketch.speed(pipeline.speed(with))
            + ", today at "
            + Sketch.speed(pipeline.speed(today))
            + ".",
        new Figure("workers needed", "threads", workers),
        new Plot(
            new Axis("workers", "threads"),
            Sketch.SPEED,
            new Point(pipeline.workers(), pipeline.speed(today)),
            List.of(
                Sketch.series(
                    Text.format("%.0f cores", cores),
                    Sketch.steps(0, most(pipeline, workers), 1),
                    at -> pipeline.speed(today.cores(cores).workers(at))),
                Sketch.series(
                    "a core for each",
                    Sketch.steps(0, most(pipeline, workers), 1),
                    at ->
                        pipeline.speed(
                            today.cores(Math.max(1, at) + costly(pipeline)).workers(at))))),
        arguments(pipeline, workers, with),
        pipeline.assumptions(),
        List.of());
  }

  private static String tooMany(Pipeline pipeline) {
    Measure left = pipeline.figure(costs -> costs.compute() - costs.prepSerial());
    return left.value() > 0
        ? Text.format("more than %d workers would be needed to keep up with the steps; ", MOST)
        : "no number of workers keeps up with the steps: preparation has a part that more threads"
            + " do not shorten; ";
  }

  /** Whether the job is slower than its steps, however many cores the workers have. */
  private static boolean isFetchingTheLimit(Pipeline pipeline, double workers) {
    Setup ample =
        pipeline.today().cores(Double.POSITIVE_INFINITY).workers(Math.max(1, Math.ceil(workers)));
    Measure over = pipeline.figure(costs -> costs.nanos(ample) - costs.compute());
    return over.value() > 0 && over.exceedsItsError();
  }

  private static double costly(Pipeline pipeline) {
    Measure cores = pipeline.computeCores();
    return cores == null ? 0 : cores.value();
  }

  private static double most(Pipeline pipeline, Measure workers) {
    return Math.min(
        MOST, Math.max(8, Math.max((double) pipeline.workers(), Math.ceil(workers.value()) + 2)));
  }

  /** One worker is what the agent can add, to DJL; more are the program's own executor. */
  private static List<String> arguments(Pipeline pipeline, Measure workers, Setup with) {
    return pipeline.isSerial()
            && workers.value() <= 1
            && Sketch.uses(pipeline, "djl")
            && Sketch.worthIt(pipeline.gain(pipeline.today(), with))
        ? List.of("prefetch=2")
        : List.of();
  }

  /** In closed form: k such that a + (b + f) / k equals the time of a step. */
  static double workers(Costs costs) {
    double left = costs.compute() - costs.prepSerial();
    double work = costs.prepParallel() + (1 - costs.todayHit()) * costs.miss();
    return left <= 0 ? Double.MAX_VALUE : work / left;
  }

  /** As many as compute and preparation keep busy while the job runs at the speed of its steps. */
  static double cores(Costs costs) {
    return costs.computeCores() + costs.prep() / Math.max(Costs.LEAST_NANOS, costs.compute());
  }
}
