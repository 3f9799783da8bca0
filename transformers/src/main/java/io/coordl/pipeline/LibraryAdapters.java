package io.coordl.pipeline;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Adapters by the class of a library's objects, each created when first needed for a class. */
final class LibraryAdapters<A> {
  private final Class<?> kind;
  private final Map<String, String> names;

  /** Stored in the class itself, so that neither outlives the other. */
  private final ClassValue<Optional<A>> adapters =
      new ClassValue<>() {
        @Override
        protected Optional<A> computeValue(Class<?> type) {
          return Optional.ofNullable(find(type));
        }
      };

  /**
   * @param kind type of the adapters
   * @param names name of the adapter for each class or interface of a library; if the adapter's
   *     constructor takes a string, followed by a space and that string
   */
  LibraryAdapters(Class<?> kind, Map<String, String> names) {
    this.kind = kind;
    this.names = names;
  }

  /**
   * Calls the adapter of an object; returns its result, empty if the object has no adapter, the
   * call fails or it returns null. Never throws.
   */
  <R> Optional<R> call(Object object, Function<A, R> call) {
    try {
      return adapters.get(object.getClass()).map(call);
    } catch (RuntimeException | LinkageError e) {
      return Optional.empty();
    }
  }

  private @Nullable A find(Class<?> type) {
    String adapter = names.get(type.getName());
    return adapter != null
        ? make(adapter, type)
        : Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()))
            .map(this::find)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
  }

  @SuppressWarnings("unchecked") // The named adapters are of type A.
  private @Nullable A make(String adapter, Class<?> library) {
    try {
      int end = adapter.indexOf(' ');
      String name = end < 0 ? adapter : adapter.substring(0, end);
      Class<?> type = LibraryLoader.load(name, library).asSubclass(kind);
      return (A)
          (end < 0
              ? type.getConstructor().newInstance()
              : type.getConstructor(String.class).newInstance(adapter.substring(end + 1)));
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }
}
