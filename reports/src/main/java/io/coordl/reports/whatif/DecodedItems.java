package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * Predicts the speed-up from caching decoded items. Considers decoding's share of preparation, and
 * how many decoded items fit in memory; a cached decoded item is neither fetched nor decoded.
 */
final class DecodedItems extends Question {
  DecodedItems() {
    super("decoded", "Decoded items cached in memory", "decodeNanos", "todayHit");
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Setup today = pipeline.today();
    double needed = (double) pipeline.datasetItems * pipeline.decodedItemBytes;
    double fits = scenario.fits(needed, (double) pipeline.freeMemoryBytes);
    Measure gain =
        pipeline.figure(costs -> costs.nanos(today) / costs.nanos(with(pipeline, costs, fits)));
    Measure decode =
        pipeline.figure(costs -> costs.decode() / Math.max(Costs.MIN_NANOS, costs.prep()));
    List<String> arguments = new ArrayList<>();
    if (isWorthIt(gain)) {
      arguments.add("decoded=share");
      if (needed > 0) {
        // With the tenth that budget() adds, the budget could exceed the free memory.
        arguments.add("decoded.size=" + budget(fits * needed / 1.1));
      }
    }
    List<String> assumptions = new ArrayList<>();
    assumptions.add("reading a cached decoded item costs nothing compared with decoding it");
    if (fits < 1 && needed > 0) {
      assumptions.add("the page cache has the free memory that decoded items leave");
    }
    return new Finding(
        Text.format(
            "decoding is %s of preparation; with %s of the decoded items cached (%s) the job runs"
                + " at %s, %s as fast as today.",
            percent(decode),
            percent(fits),
            needed == 0
                ? "how much memory that takes is not known"
                : "all of them take " + bytes(needed),
            speed(speed(pipeline, fits)),
            times(gain)),
        new Figure("speed with decoded items", "times", gain),
        plot(
            pipeline,
            new Axis("decoded items", "share"),
            0,
            Series.of("decoded", Series.SHARES, share -> speed(pipeline, share))),
        arguments,
        assumptions);
  }

  private static Measure speed(Pipeline pipeline, double share) {
    return pipeline.figure(costs -> 1e9 / costs.nanos(with(pipeline, costs, share)));
  }

  static Setup with(Pipeline pipeline, Costs costs, double share) {
    double rest = (1 - share) * costs.todayHit() * remainingHits(pipeline, share);
    return pipeline.today().hit(share + rest).decoded(share);
  }

  /**
   * Returns the share of today's page-cache hits that remains when decoded items take memory from
   * the page cache.
   */
  private static double remainingHits(Pipeline pipeline, double share) {
    double free = pipeline.freeMemoryBytes;
    double others = (1 - share) * pipeline.datasetBytes;
    if (free == 0 || others <= 0) {
      return 1;
    }
    double decoded = share * pipeline.datasetItems * pipeline.decodedItemBytes;
    double before = HitLaw.pageCache(free / pipeline.datasetBytes).value();
    double after = HitLaw.pageCache((free - decoded) / others).value();
    return before <= 0 ? 1 : Math.min(1, after / before);
  }
}
