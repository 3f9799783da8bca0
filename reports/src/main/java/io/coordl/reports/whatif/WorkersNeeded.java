package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes k*, the smallest number of threads that fetch and prepare batches as fast as the steps
 * use them, and the cores that the job then keeps busy. Considers how preparation scales with
 * threads.
 */
final class WorkersNeeded extends Question {
  private static final int MAX_WORKERS = 64;

  WorkersNeeded() {
    super("cores", "Workers and cores needed", "todayHit");
  }

  @Override
  List<Missing> missing(Pipeline pipeline, Scenario scenario) {
    List<Missing> missing = new ArrayList<>(super.missing(pipeline, scenario));
    if (scenario.cores() == null) {
      missing.addAll(pipeline.missing("cores"));
    } else if (pipeline.computeCores == null) {
      missing.add(
          new Missing(
              "computeCores",
              "the recording does not show how many cores a step keeps busy: give --compute-cores N"
                  + " (0 for an accelerator)."));
    }
    return missing;
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    double cores = scenario.cores() == null ? (double) pipeline.cores : scenario.cores();
    String coresText = Text.count(Math.round(cores), "core", "cores");
    Measure workers = pipeline.figure(costs -> Math.min(MAX_WORKERS, workers(costs)));
    double wholeWorkers = Math.max(1, Math.ceil(workers.value()));
    Setup with = today.cores(cores).workers(wholeWorkers);
    double[] counts =
        Series.steps(
            0,
            Math.min(
                MAX_WORKERS, Math.max(8, Math.max((double) pipeline.workers, wholeWorkers + 2))),
            1);
    double busy = pipeline.computeCores == null ? 0 : pipeline.computeCores.value();
    return new Finding(
        Text.format(
            "%s; with %s the job then runs at %s, today at %s.",
            workers.value() >= MAX_WORKERS
                ? tooMany(pipeline)
                : enough(pipeline, workers, wholeWorkers),
            coresText,
            speed(pipeline, with),
            speed(pipeline, today)),
        new Figure("workers needed", "threads", workers),
        plot(
            pipeline,
            Axis.WORKERS,
            (double) pipeline.workers,
            series(coresText, counts, pipeline, today.cores(cores)::workers),
            series(
                "a core for each",
                counts,
                pipeline,
                at -> today.cores(Math.max(1, at) + busy).workers(at))),
        // The agent can add one worker; more need the program's own executor.
        workers.value() <= 1 ? prefetch(pipeline, pipeline.gain(today, with)) : List.of(),
        List.of());
  }

  private static String tooMany(Pipeline pipeline) {
    Measure remaining = pipeline.figure(costs -> costs.compute() - costs.prepSerial());
    return remaining.value() > 0
        ? Text.format("more than %d workers would be needed to keep up with the steps", MAX_WORKERS)
        : "no number of workers keeps up with the steps: preparation has a part that more threads"
            + " do not shorten";
  }

  /** Describes k*, and whether this many workers with enough cores keep up with the steps. */
  private static String enough(Pipeline pipeline, Measure workers, double wholeWorkers) {
    Setup ample = pipeline.today().cores(Double.POSITIVE_INFINITY).workers(wholeWorkers);
    Measure over = pipeline.figure(costs -> costs.nanos(ample) - costs.compute());
    return Text.format(
        "k* = %s (%s) on %s cores %s",
        Text.count(Math.round(wholeWorkers), "worker", "workers"),
        workers.text(),
        pipeline.figure(WorkersNeeded::cores).text(),
        over.value() > 0 && over.exceedsItsError()
            ? "would keep up with the steps, but fetching does not"
            : wholeWorkers == 1 ? "keeps up with the steps" : "keep up with the steps");
  }

  /**
   * Returns the number k of workers for which the serial part of preparation plus 1/k of the rest
   * and of fetching takes as long as a step; {@link Double#MAX_VALUE} if the serial part alone
   * takes as long.
   */
  static double workers(Costs costs) {
    double remaining = costs.compute() - costs.prepSerial();
    double work = costs.prepParallel() + (1 - costs.todayHit()) * costs.miss();
    return remaining <= 0 ? Double.MAX_VALUE : work / remaining;
  }

  /**
   * Returns the cores that compute and preparation keep busy while the job runs at the speed of its
   * steps.
   */
  static double cores(Costs costs) {
    return costs.computeCores() + costs.prep() / Math.max(Costs.MIN_NANOS, costs.compute());
  }
}
