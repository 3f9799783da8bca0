package io.coordl.library.dl4j;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether the records of an iterator come in another order in each epoch, so that none of its
 * batches comes again. Notes every reset, so that the answer does not depend on when batches began
 * to be kept. Thread-safe.
 */
final class RecordOrders {
  /** A checksum of the order that the files of an iterator had last. */
  private record Files(int order, boolean changed) {}

  private final Map<Object, Files> resets = Collections.synchronizedMap(new WeakHashMap<>());

  /** A checksum of the order of each iterator's last epoch that began here. */
  private final Map<Object, Integer> begun = Collections.synchronizedMap(new WeakHashMap<>());

  /** Whether an order of the iterator's files was noted. */
  boolean knows(Object iterator) {
    return resets.containsKey(iterator);
  }

  /** The iterator and its readers were reset, or are about to begin their first epoch. */
  void reset(Object iterator, Collection<SeekableReader> readers) {
    int order = 0;
    for (SeekableReader reader : readers) {
      order = 31 * order + Arrays.hashCode(reader.orderOfFiles());
    }
    int now = order;
    resets.compute(
        iterator, (same, before) -> new Files(now, before != null && before.order != now));
  }

  /** Returns whether an epoch that begins has another order than the one before. */
  boolean change(Object iterator, List<int[]> orders) {
    int order = 0;
    for (int[] one : orders) {
      order = 31 * order + Arrays.hashCode(one);
    }
    Integer before = begun.put(iterator, order);
    @Nullable Files files = resets.get(iterator);
    return before == null ? files != null && files.changed : before != order;
  }
}
