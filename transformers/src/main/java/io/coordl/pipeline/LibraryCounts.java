package io.coordl.pipeline;

import java.util.Collection;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The number of samples in a batch, or of epochs of a trainer, as reported by the adapter of the
 * object's class; for an array of objects or a collection, the number of elements. 0 if unknown.
 * Never throws.
 */
public final class LibraryCounts implements ToLongFunction<Object> {
  private final LibraryAdapters<ToLongFunction<Object>> adapters;

  /**
   * Uses these counters.
   *
   * @param counters names of the agent's counter classes, by the names of the classes whose objects
   *     they count
   */
  public LibraryCounts(Map<String, String> counters) {
    this.adapters = new LibraryAdapters<>(ToLongFunction.class, Map.copyOf(counters));
  }

  @Override
  public long applyAsLong(Object counted) {
    if (counted instanceof Object[] rows) { // A batch of the program's own.
      return rows.length;
    } else if (counted instanceof Collection<?> samples) {
      return samples.size();
    }
    return adapters.call(counted, adapter -> adapter.applyAsLong(counted)).orElse(0L);
  }
}
