package io.coordl.library.dl4j;

import java.lang.ref.WeakReference;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/**
 * The progress of the library itself in an epoch of an iterator, before caching begins. Like the
 * iterator, used by one thread at a time.
 */
final class LibraryProgress {
  private static final int LEFT = -1;

  /** Number of batches; negative if the agent must not begin within this epoch. */
  private int batches;

  private int batchSize;

  /**
   * The readers' own iterators after the first batch. Different ones show that the program has
   * since initialised or reset a reader, without a reset of its iterator.
   */
  private List<WeakReference<Object>> iterators = List.of();

  boolean isAtStart() {
    return batches == 0;
  }

  /** Leaves the rest of the epoch to the library. */
  void leave() {
    batches = LEFT;
  }

  /** Called when the library has prepared the first batch. */
  void begun(int num, Collection<SeekableReader> readers) {
    batches = 1;
    batchSize = num;
    iterators = readers.stream().map(reader -> new WeakReference<>(reader.iterator())).toList();
  }

  /** Called when the library prepares a later batch. */
  void next(int num) {
    if (num != batchSize) {
      leave();
    } else if (batches > 0) {
      batches++;
    }
  }

  /**
   * Returns the number of batches that the library has taken from these readers; negative if they
   * must be left to it.
   */
  int batches(int num, Collection<SeekableReader> readers) {
    if (iterators.isEmpty()) {
      return batches;
    }
    Iterator<SeekableReader> reader = readers.iterator();
    for (WeakReference<Object> one : iterators) {
      if (!reader.hasNext() || !one.refersTo(reader.next().iterator())) {
        return 0; // The readers check whether they are at the start of an epoch.
      }
    }
    return num == batchSize ? batches : LEFT;
  }
}
