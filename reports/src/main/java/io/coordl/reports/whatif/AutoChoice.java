package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.List;
import java.util.function.ToDoubleBiFunction;

/**
 * Predicts the speed-up from {@code auto}. If the job waits for data, considers the items that fit
 * in memory, as files or decoded, whichever is faster. Also considers prepared samples, which
 * {@code auto} caches only if no transform draws random numbers. A recording does not show whether
 * one does, so this part is an upper bound.
 */
final class AutoChoice extends Question {
  /** The agent caches items if the job waits for data for at least this share of its time. */
  private static final double MIN_WAIT_SHARE = 0.05;

  /** Share of the free memory that the agent uses. */
  private static final double MEMORY_SHARE = 0.5;

  AutoChoice() {
    super("auto", "Gain from auto", "decodeNanos", "todayHit");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    double free = MEMORY_SHARE * pipeline.freeMemoryBytes;
    double raw = scenario.fits((double) pipeline.datasetBytes, free);
    double decoded =
        scenario.fits((double) pipeline.datasetItems * pipeline.decodedItemBytes, free);
    Measure waits =
        pipeline.figure(
            costs ->
                Math.max(
                    0, 1 - (costs.compute() + costs.taken() * costs.prep()) / costs.nanos(today)));
    boolean enables = waits.value() >= MIN_WAIT_SHARE;
    Measure gain =
        enables
            ? pipeline.figure(costs -> costs.nanos(today) / items(pipeline, costs, raw, decoded))
            : Measure.exact(1);
    Measure upperBound = pipeline.figure(costs -> costs.nanos(today) / samples(pipeline, costs, 1));
    String sentence =
        enables
            ? Text.format(
                "the job waits for data %s of the time; with %s of the files or %s of the decoded"
                    + " items in memory it runs at %s, %s as fast as today, and at most %s as fast"
                    + " if no transform draws random numbers and all samples fit.",
                percent(waits),
                percent(raw),
                percent(decoded),
                speed(pipeline.figure(costs -> 1e9 / items(pipeline, costs, raw, decoded))),
                times(gain),
                times(upperBound))
            : Text.format(
                "nothing: the job waits for data %s of the time, and auto caches nothing below %s.",
                percent(waits), percent(MIN_WAIT_SHARE));
    return new Finding(
        sentence,
        new Figure("speed with auto", "times", gain),
        plot(
            pipeline,
            new Axis("items cached", "share"),
            0,
            series("files or decoded", pipeline, (costs, x) -> items(pipeline, costs, x, x)),
            series("whole samples", pipeline, (costs, x) -> samples(pipeline, costs, x))),
        enables && isWorthIt(upperBound) ? List.of("auto=on") : List.of(),
        List.of(
            "reading a cached sample costs nothing compared with preparing it, and prefetching does"
                + " not speed up the job further"));
  }

  private static Series series(
      String name, Pipeline pipeline, ToDoubleBiFunction<Costs, Double> law) {
    return Series.of(
        name, Series.SHARES, x -> pipeline.figure(costs -> 1e9 / law.applyAsDouble(costs, x)));
  }

  /**
   * Returns the time of a sample if items are cached as files, are cached decoded, or stay as
   * today, whichever is fastest.
   */
  private static double items(Pipeline pipeline, Costs costs, double raw, double decoded) {
    Setup today = pipeline.today();
    double files = costs.nanos(today.hit(Math.max(costs.todayHit(), raw)));
    double pixels = costs.nanos(DecodedItems.with(pipeline, costs, decoded));
    return Math.min(costs.nanos(today), Math.min(files, pixels));
  }

  /** Returns the time of a sample if this share of the samples is cached in prepared form. */
  private static double samples(Pipeline pipeline, Costs costs, double share) {
    Setup prepared = pipeline.today().prepared(share);
    return costs.nanos(prepared.hit(share + (1 - share) * costs.todayHit()));
  }
}
