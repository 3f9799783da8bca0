package io.coordl.pipeline;

import java.util.Collection;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, or how many epochs a trainer makes, by the adapter of the library
 * that its class is of; an array or a collection has its elements. 0 if that is not known. Never
 * throws.
 */
public final class LibraryCounts implements ToLongFunction<Object> {
  private final LibraryAdapters<ToLongFunction<Object>> adapters;

  /**
   * Counts with these.
   *
   * @param counters names of our classes, by the names of what they count
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
    try {
      @Nullable ToLongFunction<Object> adapter = adapters.of(counted);
      return adapter == null ? 0 : adapter.applyAsLong(counted);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }
}
