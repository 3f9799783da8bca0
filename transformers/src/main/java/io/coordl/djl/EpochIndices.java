package io.coordl.djl;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The indices of one batch of an epoch, as a sampler would give them. Which they are is decided
 * when the first batch of the epoch is fetched, or when the program looks; how many is known
 * before. Immutable; thread-safe.
 */
final class EpochIndices extends AbstractList<Long> implements RandomAccess {
  private final SampledEpoch epoch;
  private final int batch;
  private final int size;
  private final AtomicBoolean fetched = new AtomicBoolean();
  private volatile int @Nullable [] items;

  EpochIndices(SampledEpoch epoch, int batch, int size) {
    this.epoch = epoch;
    this.batch = batch;
    this.size = size;
  }

  SampledEpoch epoch() {
    return epoch;
  }

  int batch() {
    return batch;
  }

  /** Whether this is the first call: each batch is taken once, a second fetch is the program's. */
  boolean fetchFirst() {
    return fetched.compareAndSet(false, true);
  }

  @Override
  public Long get(int index) {
    int[] known = items;
    if (known == null) {
      known = epoch.items(batch);
      items = known;
    }
    return (long) known[index];
  }

  @Override
  public int size() {
    return size;
  }

  /** Plain indices, as a sampler gives them. */
  static List<Long> plain(int[] items) {
    return java.util.Arrays.stream(items).mapToObj(item -> (long) item).toList();
  }
}
