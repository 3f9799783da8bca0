package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How fast a storage must be until the job no longer waits for it: S*. Looks at what a sample takes
 * with everything in memory, and at what of it is left for fetching.
 */
final class StorageNeeded implements Question {
  /** A pipeline that fetches on the training thread always waits; this part of its time may be. */
  private static final double LITTLE = 0.05;

  private static final double[] FACTORS = {0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 8, 16};

  @Override
  public String name() {
    return "storage";
  }

  @Override
  public String title() {
    return "Storage rate needed";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        pipeline.missing("computeNanos", "prepNanos", "missNanos", "storageRate", "sampleBytes");
    Measure rate = pipeline.storageRate();
    if (!missing.isEmpty() || rate == null) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    Double asked = Cache.share(pipeline, wishes);
    double hit = asked == null ? 0 : asked;
    double value = rate.value();
    Measure needed = pipeline.figure(costs -> factor(costs, today.hit(hit)) * value);
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    assumptions.add("a storage k times as fast answers each fetch in a k-th of the time");
    String sentence =
        "S* = "
            + Sketch.rate(needed)
            + (pipeline.isSerial()
                ? " leave at most " + Sketch.percent(LITTLE) + " of the time to fetching"
                : " keep up with the rest of the job")
            + " when "
            + (hit == 0 ? "nothing" : Sketch.percent(hit))
            + " is cached; this storage gives "
            + Sketch.rate(rate)
            + " and the job then runs at "
            + Sketch.speed(pipeline.speed(today.hit(hit)));
    if (wishes.storageRate() != null) {
      double factor = wishes.storageRate() / value;
      sentence +=
          "; with "
              + Sketch.bytes(wishes.storageRate())
              + "/s it runs at "
              + Sketch.speed(pipeline.speed(today.hit(hit).storage(factor)));
    }
    double[] rates = Arrays.stream(FACTORS).map(factor -> factor * value).toArray();
    return new Answer(
        name(),
        title(),
        sentence + ".",
        new Figure("storage rate needed", "bytes/s", needed),
        new Plot(
            new Axis("storage rate", "bytes/s"),
            Sketch.SPEED,
            new Point(value, pipeline.speed(today)),
            List.of(
                Sketch.series(
                    Sketch.percent(hit) + " cached",
                    rates,
                    at -> pipeline.speed(today.hit(hit).storage(at / value))),
                Sketch.series("as today", rates, at -> pipeline.speed(today.storage(at / value))))),
        List.of(),
        assumptions,
        List.of());
  }

  /**
   * How many times as fast as today's, in closed form: the storage must give (1 - x) samples in
   * what R leaves it, which is the paper's S* = (1 - x) / (1/R - x/C) in rates; and a worker's
   * fetches must fit into what R leaves the worker.
   */
  static double factor(Costs costs, Setup setup) {
    double hit = setup.hit() == null ? costs.todayHit() : setup.hit();
    double all = costs.nanos(setup.hit(1));
    double missed = 1 - hit;
    double storage = quotient(missed * costs.storage(), all - hit * costs.memory());
    if (setup.workers() == 0) {
      return Math.max(storage, quotient(missed * costs.miss(), all * LITTLE / (1 - LITTLE)));
    }
    double left = setup.workers() * (all - costs.prepSerial()) - costs.prepParallel();
    // Workers that prepare without a pause have nothing left; a little is a matter of taste.
    return Math.max(
        storage, quotient(missed * costs.miss(), Math.max(left, setup.workers() * all * LITTLE)));
  }

  private static double quotient(double need, double room) {
    return need <= 0 ? 0 : need / room;
  }
}
