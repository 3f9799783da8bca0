package io.coordl.reports.whatif;

import static io.coordl.reports.whatif.Sketch.SHARES;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import io.coordl.reports.whatif.Answer.Point;
import java.util.ArrayList;
import java.util.List;

/**
 * What keeping decoded items brings. Looks at what decoding is of preparation, and at how many
 * decoded items fit in memory; an item that is kept decoded is neither fetched nor decoded.
 */
final class DecodedItems implements Question {
  @Override
  public String name() {
    return "decoded";
  }

  @Override
  public String title() {
    return "Decoded items kept in memory";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        pipeline.missing("computeNanos", "prepNanos", "missNanos", "decodeNanos", "todayHit");
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    Setup today = pipeline.today();
    double needed = (double) pipeline.datasetItems() * pipeline.decodedItemBytes();
    double fits = fits(pipeline, wishes, needed);
    Measure gain =
        pipeline.figure(costs -> costs.nanos(today) / nanos(pipeline, costs, today, fits));
    Measure decode =
        pipeline.figure(costs -> costs.decode() / Math.max(Costs.LEAST_NANOS, costs.prep()));
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    assumptions.add("taking a decoded item costs nothing beside decoding it");
    if (fits < 1 && needed > 0 && pipeline.freeMemoryBytes() > 0) {
      assumptions.add("the page cache has the free memory that decoded items leave");
    }
    return new Answer(
        name(),
        title(),
        "decoding is "
            + Sketch.percent(decode)
            + " of preparation; with "
            + Sketch.percent(fits)
            + " of the items kept decoded"
            + (needed == 0
                ? " (how much memory that takes is not known)"
                : " (all of them take " + Sketch.bytes(needed) + ")")
            + " the job runs at "
            + Sketch.speed(pipeline.figure(costs -> 1e9 / nanos(pipeline, costs, today, fits)))
            + ", "
            + Sketch.times(gain)
            + " as fast as today.",
        new Figure("speed with decoded items", "times", gain),
        new Plot(
            new Axis("decoded items", "share"),
            Sketch.SPEED,
            new Point(0, pipeline.speed(today)),
            List.of(
                Sketch.series(
                    "decoded",
                    SHARES,
                    share ->
                        pipeline.figure(costs -> 1e9 / nanos(pipeline, costs, today, share))))),
        Sketch.worthIt(gain)
            ? needed == 0
                ? List.of("decoded=share")
                : List.of("decoded=share", "decoded.size=" + Sketch.budget(fits * needed / 1.1))
            : List.of(),
        assumptions,
        List.of());
  }

  /** The part of the items that fits in the memory asked about, else in what is free. */
  private static double fits(Pipeline pipeline, Wishes wishes, double needed) {
    Double asked = wishes.cacheShare();
    if (asked != null) {
      return Math.min(1, asked);
    }
    double memory = wishes.cacheBytes() == null ? pipeline.freeMemoryBytes() : wishes.cacheBytes();
    return needed == 0 || memory == 0 ? 1 : Math.min(1, memory / needed);
  }

  private static double nanos(Pipeline pipeline, Costs costs, Setup today, double share) {
    double rest = (1 - share) * costs.todayHit() * left(pipeline, share);
    return costs.nanos(today.hit(share + rest).decoded(share));
  }

  /** What is left of the page cache's hits, as a part of today's: it loses the memory. */
  private static double left(Pipeline pipeline, double share) {
    double free = pipeline.freeMemoryBytes();
    double others = (1 - share) * pipeline.datasetBytes();
    if (free == 0 || others <= 0) {
      return 1;
    }
    double decoded = share * pipeline.datasetItems() * pipeline.decodedItemBytes();
    double before = Cache.pageCacheHit(free / pipeline.datasetBytes()).value();
    double after = Cache.pageCacheHit((free - decoded) / others).value();
    return before <= 0 ? 1 : Math.min(1, after / before);
  }
}
