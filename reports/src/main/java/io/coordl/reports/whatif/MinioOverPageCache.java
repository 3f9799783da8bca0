package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.telemetry.advice.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * Predicts the gain of a MinIO cache over a page cache with the same memory, from the hit ratios of
 * both. MinIO never evicts, so its hit ratio is the share of the data set that it holds; measured
 * page caches lie between LRU and random replacement, so both are shown.
 */
final class MinioOverPageCache extends Question {
  MinioOverPageCache() {
    super("minio", "MinIO cache in place of the page cache", "storageRate", "sampleBytes");
  }

  @Override
  List<Missing> missing(Pipeline pipeline, Scenario scenario) {
    List<Missing> missing = new ArrayList<>(super.missing(pipeline, scenario));
    if (scenario.cacheShare(pipeline) == null) {
      missing.addAll(pipeline.missing("todayHit"));
    }
    return missing;
  }

  @Override
  Finding find(Pipeline pipeline, Scenario scenario) {
    Double requested = scenario.cacheShare(pipeline);
    double size = requested == null ? pipeline.memoryShare() : requested;
    Setup minio = with(pipeline, HitLaw.MINIO, size);
    Setup random = with(pipeline, HitLaw.RANDOM, size);
    Setup lru = with(pipeline, HitLaw.LRU, size);
    Measure gain = between(pipeline.gain(random, minio), pipeline.gain(lru, minio));
    String sentence =
        size >= 1
            ? Text.format(
                "nothing after the first epoch: the data set (%s) fits in memory, so the page"
                    + " cache, too, hits everything as long as that memory stays free.",
                bytes((double) pipeline.datasetBytes))
            : Text.format(
                "with %s of the data set in memory (%s), MinIO hits %s, a page cache %s to %s: %s"
                    + " instead of %s, %s as fast.",
                percent(size),
                bytes(size * pipeline.datasetBytes),
                percent(size),
                percent(HitLaw.LRU.hit(size)),
                percent(HitLaw.RANDOM.hit(size)),
                speed(pipeline, minio),
                speed(between(pipeline.speed(lru), pipeline.speed(random))),
                times(gain));
    return new Finding(
        sentence,
        new Figure("gain over the page cache", "times", gain),
        plotByCacheSize(
            pipeline,
            series("MinIO", pipeline, HitLaw.MINIO),
            series("random replacement", pipeline, HitLaw.RANDOM),
            series("least recently used", pipeline, HitLaw.LRU)),
        isWorthIt(gain) ? minio(pipeline, size / 1.1) : List.of(),
        List.of(
            "every epoch requests every item once in a new random order, and the page cache has as"
                + " much memory as the MinIO cache would"));
  }

  private static Setup with(Pipeline pipeline, HitLaw law, double size) {
    return pipeline.today().hit(law.hit(size));
  }

  private static Series series(String name, Pipeline pipeline, HitLaw law) {
    return series(name, Series.SHARES, pipeline, share -> with(pipeline, law, share));
  }

  /** Returns the midpoint of two figures; half their distance adds to the error. */
  private static Measure between(Measure low, Measure high) {
    double half = (high.value() - low.value()) / 2;
    return new Measure(low.value() + half, Math.abs(half) + Math.max(low.error(), high.error()));
  }
}
