package io.coordl.reports.whatif;

import static io.coordl.reports.whatif.Sketch.SHARES;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.whatif.Answer.Figure;
import io.coordl.reports.whatif.Answer.Plot;
import java.util.ArrayList;
import java.util.List;

/**
 * What a MinIO cache brings over a page cache with the same memory, before it is turned on. Looks
 * at the hits of both: MinIO hits what it holds; page caches were measured to lie between the least
 * recently used and random replacement, and both are shown.
 */
final class MinioOverPageCache implements Question {
  @Override
  public String name() {
    return "minio";
  }

  @Override
  public String title() {
    return "MinIO cache in place of the page cache";
  }

  @Override
  public Answer ask(Pipeline pipeline, Wishes wishes) {
    List<Missing> missing =
        new ArrayList<>(
            pipeline.missing(
                "computeNanos", "prepNanos", "missNanos", "storageRate", "sampleBytes"));
    Double asked = Cache.share(pipeline, wishes);
    if (asked == null) {
      missing.addAll(pipeline.missing("todayHit"));
    }
    if (!missing.isEmpty()) {
      return Answer.withheld(name(), title(), missing);
    }
    double size = asked == null ? pipeline.memoryShare() : asked;
    Measure page = page(pipeline, size);
    Measure minio = pipeline.speed(pipeline.today().hit(size));
    Measure gain = gain(pipeline, size);
    List<String> assumptions = new ArrayList<>(pipeline.assumptions());
    assumptions.add(
        "every epoch asks for every item once in a new random order, and the page cache has as much"
            + " memory as the MinIO cache would");
    return new Answer(
        name(),
        title(),
        sentence(pipeline, size, page, minio, gain),
        new Figure("gain over the page cache", "times", gain),
        new Plot(
            Sketch.SHARE,
            Sketch.SPEED,
            Cache.today(pipeline),
            List.of(
                Sketch.series("MinIO", SHARES, share -> speed(pipeline, HitLaw.MINIO, share)),
                Sketch.series(
                    "random replacement", SHARES, share -> speed(pipeline, HitLaw.RANDOM, share)),
                Sketch.series(
                    "least recently used", SHARES, share -> speed(pipeline, HitLaw.LRU, share)))),
        Sketch.worthIt(gain) ? Cache.arguments(pipeline, size / 1.1) : List.of(),
        assumptions,
        List.of());
  }

  private static Measure speed(Pipeline pipeline, HitLaw law, double size) {
    return pipeline.speed(pipeline.today().hit(law.hit(size)));
  }

  /** The middle of the band between the two laws, and half its width as an error. */
  private static Measure page(Pipeline pipeline, double size) {
    return between(speed(pipeline, HitLaw.LRU, size), speed(pipeline, HitLaw.RANDOM, size));
  }

  private static Measure gain(Pipeline pipeline, double size) {
    Setup today = pipeline.today();
    Setup minio = today.hit(HitLaw.MINIO.hit(size));
    return between(
        pipeline.gain(today.hit(HitLaw.RANDOM.hit(size)), minio),
        pipeline.gain(today.hit(HitLaw.LRU.hit(size)), minio));
  }

  private static Measure between(Measure low, Measure high) {
    double half = (high.value() - low.value()) / 2;
    return new Measure(low.value() + half, Math.abs(half) + Math.max(low.error(), high.error()));
  }

  private static String sentence(
      Pipeline pipeline, double size, Measure page, Measure minio, Measure gain) {
    if (size >= 1) {
      return "nothing after the first epoch: the data set ("
          + Sketch.bytes((double) pipeline.datasetBytes())
          + ") fits in memory, and then the page cache hits everything too, as long as it stays"
          + " free.";
    }
    return "with "
        + Sketch.percent(size)
        + " of the data set in memory ("
        + Sketch.bytes(size * pipeline.datasetBytes())
        + ") MinIO hits "
        + Sketch.percent(size)
        + ", a page cache "
        + Sketch.percent(HitLaw.LRU.hit(size))
        + " to "
        + Sketch.percent(HitLaw.RANDOM.hit(size))
        + ": "
        + Sketch.speed(minio)
        + " after "
        + Sketch.speed(page)
        + ", "
        + Sketch.times(gain)
        + " as fast.";
  }
}
