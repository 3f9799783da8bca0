package io.coordl.reports.whatif;

import static io.coordl.reports.whatif.Sketch.SHARES;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import java.util.ArrayList;
import java.util.List;

/**
 * The smallest MinIO cache with which a job is as fast as if every item came from memory: x*. Looks
 * at what fetching costs where it shows.
 */
final class BestCacheSize implements Question {
  @Override
  public String name() {
    return "cacheSize";
  }

  @Override
  public String title() {
    return "Best size of a MinIO cache";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        pipeline.missing("computeNanos", "prepNanos", "missNanos", "sampleBytes");
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    Measure best = pipeline.figure(costs -> bestShare(costs, today));
    Measure gain = pipeline.gain(today.hit(0), today.hit(best.value()));
    Double asked = Cache.share(pipeline, wishes);
    String sentence = sentence(pipeline, best, gain);
    if (asked != null) {
      sentence +=
          "; one of "
              + Sketch.percent(asked)
              + " gives "
              + Sketch.speed(pipeline.speed(today.hit(asked)));
    }
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    if (pipeline.storageRate() == null) {
      assumptions.add("the storage is not at its limit, as its rate is not known");
    }
    return new Answer(
        name(),
        title(),
        sentence + ".",
        Sketch.worthIt(gain)
            ? new Figure("best cache size", "share", best)
            : new Figure("speed with everything in memory", "times", gain),
        new Plot(
            Sketch.SHARE,
            Sketch.SPEED,
            Cache.today(pipeline),
            List.of(Sketch.series("MinIO", SHARES, share -> pipeline.speed(today.hit(share))))),
        Sketch.worthIt(gain)
                && isKnown(best)
                && isBetterThanToday(pipeline, Math.min(best.value(), fits(pipeline)))
            ? Cache.arguments(pipeline, Math.min(best.value(), fits(pipeline) / 1.1))
            : List.of(),
        assumptions,
        List.of());
  }

  private static boolean isKnown(Measure best) {
    return best.exceedsItsError();
  }

  /** The page cache may do as well already. */
  private static boolean isBetterThanToday(Pipeline pipeline, double share) {
    Setup today = pipeline.today();
    return pipeline.todayHit() == null || Sketch.worthIt(pipeline.gain(today, today.hit(share)));
  }

  private static String sentence(Pipeline pipeline, Measure best, Measure gain) {
    Setup today = pipeline.today();
    if (!Sketch.worthIt(gain)) {
      return "none: with nothing cached the job runs at "
          + Sketch.speed(pipeline.speed(today.hit(0)))
          + ", with everything in memory at "
          + Sketch.speed(pipeline.speed(today.hit(1)));
    }
    return (isKnown(best) ? "x* = " : "not known, run again on a quiet machine: x* = ")
        + Sketch.percent(best)
        + " of the data set ("
        + Sketch.bytes(best.value() * pipeline.datasetBytes())
        + "): "
        + Sketch.speed(pipeline.speed(today.hit(best.value())))
        + ", "
        + Sketch.times(gain)
        + " as fast as with nothing cached; more memory brings nothing"
        + (pipeline.todayHit() == null
            ? ""
            : "; today it runs at " + Sketch.speed(pipeline.speed(today)))
        + (best.value() <= fits(pipeline)
            ? ""
            : "; what is free ("
                + Sketch.bytes((double) pipeline.freeMemoryBytes())
                + ") gives "
                + Sketch.speed(pipeline.speed(today.hit(fits(pipeline)))));
  }

  /** The part of the data set that the free memory holds, as far as that is known. */
  private static double fits(Pipeline pipeline) {
    return pipeline.freeMemoryBytes() == 0 ? 1 : pipeline.memoryShare();
  }

  /**
   * In closed form. With R the time of a sample whose items all come from memory, a worker keeps up
   * once (1 - x) of its misses fit into what R leaves it, the storage once x M + (1 - x) S &le; R,
   * which is the paper's x* = (1/S - 1/R) / (1/S - 1/C) in rates.
   */
  static double bestShare(Costs costs, Setup setup) {
    double all = costs.nanos(setup.hit(1));
    double best = 0;
    if (costs.storage() > all) {
      best = (costs.storage() - all) / (costs.storage() - costs.memory());
    }
    if (setup.workers() == 0) {
      // Every fetch shows.
      return costs.miss() > 0 ? 1 : best;
    }
    double left = setup.workers() * (all - costs.prepSerial()) - costs.prepParallel();
    if (costs.miss() > left) {
      best = Math.max(best, 1 - left / costs.miss());
    }
    return Math.max(0, Math.min(best, 1));
  }
}
