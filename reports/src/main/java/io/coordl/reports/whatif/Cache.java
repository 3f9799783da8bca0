package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.whatif.Answer.Point;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Caches as parts of the data set. */
final class Cache {
  private Cache() {}

  /** The size that the user asks about, at most 1; null if none or if the data set is unknown. */
  static @Nullable Double share(Pipeline pipeline, Wishes wishes) {
    if (wishes.cacheShare() != null) {
      return Math.min(1, wishes.cacheShare());
    }
    return wishes.cacheBytes() == null || pipeline.datasetBytes() == 0
        ? null
        : (Double) Math.min(1, wishes.cacheBytes() / pipeline.datasetBytes());
  }

  /** Where a job stands on a plot over sizes of a cache; null if that is not known. */
  static @Nullable Point today(Pipeline pipeline) {
    Measure hit = pipeline.todayHit();
    if (hit == null) {
      return null;
    }
    double size = pipeline.freeMemoryBytes() == 0 ? hit.value() : pipeline.memoryShare();
    return new Point(size, pipeline.speed(pipeline.today()));
  }

  /**
   * What a page cache hits: it lies between two laws, which are the ends of the error.
   *
   * @param size of the cache as a part of the data set; below 0 there is none
   */
  static Measure pageCacheHit(double size) {
    double part = Math.max(0, Math.min(1, size));
    double low = HitLaw.LRU.hit(part);
    double high = HitLaw.RANDOM.hit(part);
    return new Measure((low + high) / 2, (high - low) / 2);
  }

  static List<String> arguments(Pipeline pipeline, double share) {
    return List.of("cache=minio", "cache.size=" + Sketch.budget(share * pipeline.datasetBytes()));
  }
}
