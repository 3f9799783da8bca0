package io.coordl.library.djl;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The weights of a bilinear resize with antialiasing in one dimension, computed with the same
 * rounding as in PyTorch's CPU kernel. Immutable.
 */
final class Resampling {
  /**
   * Maximum bytes of weights to remember; random crops of large pictures have many different sizes.
   */
  private static final long MAX_BYTES = 16 << 20;

  private static final Map<Long, Resampling> KNOWN = new ConcurrentHashMap<>();
  private static final AtomicLong KNOWN_BYTES = new AtomicLong();

  /** For each place of the result, the first place of the source that it depends on. */
  final int[] from;

  /** For each place of the result, the number of places of the source that it depends on. */
  final int[] count;

  /** Upper bound of the numbers in {@link #count}. */
  final int maxCount;

  /** {@link #maxCount} weights for each place of the result, of which {@link #count} are used. */
  final float[] weights;

  private Resampling(int[] from, int[] count, int maxCount, float[] weights) {
    this.from = from;
    this.count = count;
    this.maxCount = maxCount;
    this.weights = weights;
  }

  /** Returns the weights to resize a dimension of {@code in} places to {@code out}. */
  static Resampling of(int in, int out) {
    long sizes = (long) in << Integer.SIZE | out;
    Resampling known = KNOWN.get(sizes);
    if (known == null) {
      known = compute(in, out);
      if (KNOWN_BYTES.addAndGet(4L * known.weights.length + 8L * out) <= MAX_BYTES) {
        KNOWN.put(sizes, known);
      }
    }
    return known;
  }

  /**
   * Computes in single precision where the kernel does, because each rounding affects the pixels.
   */
  private static Resampling compute(int in, int out) {
    float scale = (float) in / out;
    boolean shrinks = scale >= 1;
    float support = shrinks ? scale : 1;
    float inverse = shrinks ? (float) (1.0 / scale) : 1;
    int maxCount = 2 * (int) Math.ceil(support) + 1;
    int[] from = new int[out];
    int[] count = new int[out];
    float[] weights = new float[out * maxCount];
    for (int place = 0; place < out; place++) {
      float center = (float) (scale * (place + 0.5));
      int first = (int) Math.max((long) ((double) (center - support) + 0.5), 0);
      long end = Math.min((long) ((double) (center + support) + 0.5), in);
      int number = (int) Math.max(0, Math.min(end - first, maxCount));
      float sum = 0;
      for (int i = 0; i < number; i++) {
        float distance = (float) (((double) ((float) (i + first) - center) + 0.5) * inverse);
        float weight = Math.abs(distance) < 1 ? (float) (1.0 - Math.abs(distance)) : 0;
        weights[place * maxCount + i] = weight;
        sum += weight;
      }
      if (sum != 0) {
        for (int i = 0; i < number; i++) {
          weights[place * maxCount + i] /= sum;
        }
      }
      from[place] = first;
      count[place] = number;
    }
    return new Resampling(from, count, maxCount, weights);
  }
}
