package io.coordl.pipeline;

import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, or how many epochs a trainer makes, by the adapter of the library
 * that its class is of; an array or a collection has its elements. 0 if that is not known. Never
 * throws.
 */
public final class LibraryCounts implements ToLongFunction<Object> {
  private final Map<String, String> counters;

  /** Kept in the class itself, so that neither outlives the other. */
  private final ClassValue<ToLongFunction<Object>> adapters =
      new ClassValue<>() {
        @Override
        protected ToLongFunction<Object> computeValue(Class<?> counted) {
          ToLongFunction<Object> found = find(counted);
          return found == null ? unknown -> 0 : found;
        }
      };

  /**
   * Counts with these.
   *
   * @param counters names of our classes, by the names of what they count
   */
  public LibraryCounts(Map<String, String> counters) {
    this.counters = Map.copyOf(counters);
  }

  @Override
  public long applyAsLong(Object counted) {
    if (counted instanceof Object[] rows) { // A batch of the program's own.
      return rows.length;
    } else if (counted instanceof Collection<?> samples) {
      return samples.size();
    }
    try {
      return adapters.get(counted.getClass()).applyAsLong(counted);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }

  private @Nullable ToLongFunction<Object> find(Class<?> type) {
    String adapter = counters.get(type.getName());
    return adapter != null
        ? make(adapter, type)
        : Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()))
            .map(this::find)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
  }

  @SuppressWarnings("unchecked") // As it is declared.
  private static @Nullable ToLongFunction<Object> make(String adapter, Class<?> library) {
    try {
      return LibraryLoader.load(adapter, library)
          .asSubclass(ToLongFunction.class)
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
