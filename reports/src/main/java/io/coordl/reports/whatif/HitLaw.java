package io.coordl.reports.whatif;

/**
 * What part of the items a cache answers in an epoch that asks for each once, in a fresh random
 * order every time, once the first epoch is over.
 */
enum HitLaw {
  /** Admit until full, never replace: what is resident is hit. */
  MINIO {
    @Override
    double hit(double size) {
      return size;
    }
  },

  /**
   * Replace the least recently used: h = x + (1 - x) ln(1 - x). What a page cache limited by a
   * control group does.
   */
  LRU {
    @Override
    double hit(double size) {
      return size >= 1 ? 1 : size + (1 - size) * Math.log1p(-size);
    }
  },

  /**
   * Replace anything: the part m that is missed solves m = 1 - ((1 - e^-a) / a)^2 with a = m / x.
   * What the paper measured of a page cache (VLDB'21, figure 4 and section 7.1).
   */
  RANDOM {
    @Override
    double hit(double size) {
      if (size >= 1 || size <= 0) {
        return size >= 1 ? 1 : 0;
      }
      double low = 0; // Misses are more than the equation gives below the root, fewer above it.
      double high = 1;
      while (high - low > 1e-12) {
        double middle = (low + high) / 2;
        double a = middle / size;
        double kept = -Math.expm1(-a) / a;
        if (1 - kept * kept > middle) {
          low = middle;
        } else {
          high = middle;
        }
      }
      return 1 - (low + high) / 2;
    }
  };

  /**
   * The part of the items that is hit, 0 to 1.
   *
   * @param size the cache as a part of the data set, 0 to 1
   */
  abstract double hit(double size);
}
