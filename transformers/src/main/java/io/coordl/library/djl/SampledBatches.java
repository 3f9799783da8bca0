package io.coordl.library.djl;

import io.coordl.staging.BatchOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a data iterable gets instead of its sampler's iterator, which is run to its end when the
 * first batch is asked for: an order can be shared only as a whole. If it has no end, throws, or
 * yields what is no index, the program gets just what its sampler gives. Used by one thread at a
 * time, as the sampler's own.
 */
final class SampledBatches implements Iterator<List<Long>> {
  /** A sampler that yields each item more often than this (in the mean) is taken for endless. */
  private static final long MOST_PER_ITEM = 16;

  private final Iterator<List<Long>> sampler;
  private final SampledEpoch epoch;
  private final long size;
  private @Nullable Iterator<List<Long>> batches;

  /** What the sampler threw, to be thrown where the program would have met it. */
  private @Nullable Throwable failure;

  private boolean failedInNext;

  SampledBatches(Iterator<List<Long>> sampler, SampledEpoch epoch, long size) {
    this.sampler = sampler;
    this.epoch = epoch;
    this.size = size;
  }

  @Override
  public boolean hasNext() {
    if (batches().hasNext()) {
      return true;
    }
    if (failure == null) {
      return sampler.hasNext();
    }
    if (!failedInNext) {
      rethrow();
    }
    return true;
  }

  @Override
  public List<Long> next() {
    if (batches().hasNext()) {
      return batches().next();
    }
    rethrow();
    return sampler.next(); // Past its end, too, where it is asked without hasNext.
  }

  private void rethrow() {
    Throwable thrown = failure;
    failure = null;
    if (thrown != null) {
      SampledBatches.<RuntimeException>sneak(thrown);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> void sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }

  private Iterator<List<Long>> batches() {
    Iterator<List<Long>> known = batches;
    if (known == null) {
      List<List<Long>> own = new ArrayList<>();
      List<int[]> items = drain(own);
      known = items == null ? own.iterator() : epoch.over(BatchOrder.of(items)).iterator();
      batches = known;
    }
    return known;
  }

  /**
   * All batches.
   *
   * @param own gets them as the sampler gives them
   * @return null if they make no order
   */
  private @Nullable List<int[]> drain(List<List<Long>> own) {
    List<int[]> items = new ArrayList<>();
    long most = Math.min(Integer.MAX_VALUE, size * MOST_PER_ITEM);
    boolean ordered = size <= Integer.MAX_VALUE;
    while (ordered) {
      List<Long> batch;
      try {
        failedInNext = false;
        if (!sampler.hasNext()) {
          return items;
        }
        failedInNext = true;
        batch = sampler.next();
      } catch (Throwable t) {
        failure = t;
        return null;
      }
      own.add(batch);
      int[] indices = indices(batch);
      most -= indices == null ? 0 : indices.length;
      ordered = indices != null && most >= 0;
      items.add(indices == null ? new int[0] : indices);
    }
    epoch.refuse("samplers that yield " + (most < 0 ? "no end of batches" : "what are no indices"));
    return null;
  }

  private int @Nullable [] indices(List<Long> batch) {
    try {
      int[] indices = new int[batch.size()];
      for (int i = 0; i < indices.length; i++) {
        long index = batch.get(i);
        if (index < 0 || index >= size) {
          return null;
        }
        indices[i] = (int) index;
      }
      return indices;
    } catch (RuntimeException e) {
      return null; // No list, or one with holes: the fetch will meet that.
    }
  }
}
