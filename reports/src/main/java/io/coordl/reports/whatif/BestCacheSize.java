package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.List;

/**
 * Computes x*, the size of the smallest MinIO cache with which a job is as fast as with every item
 * in memory. Counts the cost of fetching only where the job waits for it.
 */
final class BestCacheSize extends Question {
  BestCacheSize() {
    super("cacheSize", "Best size of a MinIO cache", "sampleBytes");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    Measure best = pipeline.figure(costs -> bestShare(costs, today));
    Measure gain = pipeline.gain(today.hit(0), today.hit(best.value()));
    // Share of the data set that fits in the free memory; 1 if unknown.
    double fits = pipeline.freeMemoryBytes == 0 ? 1 : pipeline.memoryShare();
    // The page cache may already do as well.
    boolean advised =
        isWorthIt(gain)
            && best.exceedsItsError()
            && isWorthIt(pipeline.gain(today, today.hit(Math.min(best.value(), fits))));
    Double requested = scenario.cacheShare(pipeline);
    String answer =
        isWorthIt(gain)
            ? best(pipeline, best, gain, fits)
            : Text.format(
                "none: with nothing cached the job runs at %s, with everything in memory at %s",
                speed(pipeline, today.hit(0)), speed(pipeline, today.hit(1)));
    return new Finding(
        answer
            + (requested == null
                ? "."
                : Text.format(
                    "; a cache of %s gives %s.",
                    percent(requested), speed(pipeline, today.hit(requested)))),
        isWorthIt(gain)
            ? new Figure("best cache size", "share", best)
            : new Figure("speed with everything in memory", "times", gain),
        plotByCacheSize(pipeline, series("MinIO", Series.SHARES, pipeline, today::hit)),
        advised ? minio(pipeline, Math.min(best.value(), fits / 1.1)) : List.of(),
        storageAssumption(pipeline));
  }

  private static String best(Pipeline pipeline, Measure best, Measure gain, double fits) {
    Setup today = pipeline.today();
    return Text.format(
            "%sx* = %s of the data set (%s): %s, %s as fast as with nothing cached; more memory"
                + " gains nothing",
            best.exceedsItsError() ? "" : "uncertain; rerun on an idle machine: ",
            percent(best),
            bytes(best.value() * pipeline.datasetBytes),
            speed(pipeline, today.hit(best.value())),
            times(gain))
        + (pipeline.todayHit == null ? "" : "; today it runs at " + speed(pipeline, today))
        + (best.value() <= fits
            ? ""
            : Text.format(
                "; the free memory (%s) gives %s",
                bytes((double) pipeline.freeMemoryBytes), speed(pipeline, today.hit(fits))));
  }

  /**
   * Computes x* in closed form. Let x be the cached share of the data set, R the job's rate with
   * every item in memory, C the rate of memory and S that of storage. The storage keeps up once x/C
   * + (1 - x)/S &le; 1/R, that is, x &ge; (1/S - 1/R) / (1/S - 1/C). The workers keep up once the
   * extra time of their misses fits into the time that their preparation leaves at the rate R.
   */
  static double bestShare(Costs costs, Setup setup) {
    double all = costs.nanos(setup.hit(1));
    double best = 0;
    if (costs.storage() > all) {
      best = (costs.storage() - all) / (costs.storage() - costs.memory());
    }
    if (setup.workers == 0) {
      // The job waits for every fetch.
      return costs.miss() > 0 ? 1 : best;
    }
    double remaining = setup.workers * (all - costs.prepSerial()) - costs.prepParallel();
    if (costs.miss() > remaining) {
      best = Math.max(best, 1 - remaining / costs.miss());
    }
    return Math.max(0, Math.min(best, 1));
  }
}
