package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import java.util.function.DoublePredicate;

/**
 * Hit ratio h of a cache that holds the share x of the data set, after the first epoch, if each
 * epoch requests each item once in a new random order.
 */
enum HitLaw {
  /** Admit until full, never replace: every resident item is a hit. */
  MINIO,

  /**
   * Replace the least recently used: h = x + (1 - x) ln(1 - x). A page cache limited by a control
   * group follows this law.
   */
  LRU,

  /**
   * Replace at random: the miss ratio m solves m = 1 - ((1 - e^-a) / a)^2 with a = m / x. The
   * CoorDL paper's measurements of a page cache follow this law (VLDB'21, figure 4 and section
   * 7.1).
   */
  RANDOM;

  /** Returns the hit ratio for a cache of {@code size}, a share of the data set; both 0 to 1. */
  double hit(double size) {
    return switch (this) {
      case MINIO -> size;
      case LRU -> size >= 1 ? 1 : size + (1 - size) * Math.log1p(-size);
      case RANDOM -> random(size);
    };
  }

  private static double random(double size) {
    if (size >= 1 || size <= 0) {
      return size >= 1 ? 1 : 0;
    }
    // Below the root, the right-hand side is larger than m; above it, smaller.
    return 1
        - root(
            0,
            1,
            missed -> {
              double survival = -Math.expm1(-missed / size) / (missed / size);
              return 1 - survival * survival > missed;
            });
  }

  /** Returns the hit ratio of a page cache: the mean of LRU and RANDOM ± half their difference. */
  static Measure pageCache(double size) {
    double bounded = Math.max(0, Math.min(1, size));
    double low = LRU.hit(bounded);
    double high = RANDOM.hit(bounded);
    return new Measure((low + high) / 2, (high - low) / 2);
  }

  /** Finds by bisection where a condition stops holding. */
  static double root(double low, double high, DoublePredicate below) {
    double from = low;
    double to = high;
    while (to - from > 1e-12 * high) {
      double middle = (from + to) / 2;
      if (below.test(middle)) {
        from = middle;
      } else {
        to = middle;
      }
    }
    return (from + to) / 2;
  }
}
