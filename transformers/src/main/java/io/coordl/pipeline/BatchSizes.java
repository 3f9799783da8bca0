package io.coordl.pipeline;

import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, by the adapter of the library that its class is of; 0 if that is
 * not known. Never throws.
 */
public final class BatchSizes implements ToLongFunction<Object> {
  /** What the batches of a library are, and who knows them. */
  private static final Map<String, String> ADAPTERS =
      Map.of(
          "ai.djl.training.dataset.Batch", "io.coordl.djl.",
          "org.nd4j.linalg.dataset.api.DataSet", "io.coordl.dl4j.",
          "org.nd4j.linalg.dataset.api.MultiDataSet", "io.coordl.dl4j.");

  /** Kept in the class itself, so that neither outlives the other. */
  private final ClassValue<ToLongFunction<Object>> sizes =
      new ClassValue<>() {
        @Override
        protected ToLongFunction<Object> computeValue(Class<?> batch) {
          ToLongFunction<Object> found = find(batch);
          return found == null ? unknown -> 0 : found;
        }
      };

  @Override
  public long applyAsLong(Object batch) {
    try {
      return sizes.get(batch.getClass()).applyAsLong(batch);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }

  private static @Nullable ToLongFunction<Object> find(@Nullable Class<?> type) {
    if (type == null) {
      return null;
    }
    String adapter = ADAPTERS.get(type.getName());
    if (adapter != null) {
      return make(adapter, type);
    }
    for (Class<?> implemented : type.getInterfaces()) {
      ToLongFunction<Object> found = find(implemented);
      if (found != null) {
        return found;
      }
    }
    return find(type.getSuperclass());
  }

  @SuppressWarnings("unchecked") // As it is declared.
  private static @Nullable ToLongFunction<Object> make(String adapter, Class<?> library) {
    try {
      ClassLoader loader = new LibraryLoader(library.getClassLoader(), adapter);
      return Class.forName(adapter + "BatchSize", true, loader)
          .asSubclass(ToLongFunction.class)
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
