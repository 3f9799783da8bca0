package io.coordl.library.djl;

import io.coordl.coordination.BatchOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replaces a sampler's iterator in a data iterable. It runs the sampler to its end when the first
 * batch is requested, because an order can only be shared as a whole. If the sampler is endless,
 * throws, or yields anything that is not an index, the program gets exactly the sampler's results.
 * Like the sampler's iterator, used by one thread at a time.
 */
final class SampledBatches implements Iterator<List<Long>> {
  /** A sampler that yields each item more often than this, on average, is considered endless. */
  private static final long MAX_PER_ITEM = 16;

  private final Iterator<List<Long>> sampler;
  private final SampledEpoch epoch;
  private final long size;
  private @Nullable Iterator<List<Long>> batches;

  /** The sampler's exception, thrown when the program reaches the failed batch. */
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
    return sampler.next(); // Also past the end, if called without hasNext.
  }

  private void rethrow() {
    Throwable thrown = failure;
    failure = null;
    if (thrown != null) {
      throw SampledBatches.<RuntimeException>undeclared(thrown);
    }
  }

  /** Returns any exception of the program's code, to be thrown without being declared. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <T extends Throwable> T undeclared(Throwable thrown) {
    return (T) thrown;
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
   * Runs the sampler to its end.
   *
   * @param own receives the batches as the sampler yields them
   * @return null if they are not a valid order
   */
  private @Nullable List<int[]> drain(List<List<Long>> own) {
    List<int[]> items = new ArrayList<>();
    long left = Math.min(Integer.MAX_VALUE, size * MAX_PER_ITEM);
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
      left -= indices == null ? 0 : indices.length;
      ordered = indices != null && left >= 0;
      items.add(indices == null ? new int[0] : indices);
    }
    epoch.refuse("samplers that " + (left < 0 ? "never end" : "yield invalid indices"));
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
      return null; // Null, or a list with nulls or other objects: the fetch will fail.
    }
  }
}
