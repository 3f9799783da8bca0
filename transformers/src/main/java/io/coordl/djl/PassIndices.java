package io.coordl.djl;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The indices of one batch of a pass, as a sampler would give them. Which they are is decided when
 * the first batch of the pass is fetched, or when somebody looks; how many is known before.
 * Immutable; thread-safe.
 */
final class PassIndices extends AbstractList<Long> implements RandomAccess {
  private final Pass pass;
  private final int batch;
  private final int size;
  private final AtomicBoolean fetched = new AtomicBoolean();
  private volatile int @Nullable [] items;

  PassIndices(Pass pass, int batch, int size) {
    this.pass = pass;
    this.batch = batch;
    this.size = size;
  }

  Pass pass() {
    return pass;
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
      known = pass.items(batch);
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
