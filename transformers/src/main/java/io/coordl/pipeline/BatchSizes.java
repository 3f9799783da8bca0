package io.coordl.pipeline;

import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, by the adapter of the library that its class is of; 0 if that is
 * not known. Never throws.
 */
public final class BatchSizes implements ToLongFunction<Object> {
  /** An adapter's part: knows the batches of its library. */
  public interface OfLibrary {
    /** Samples of a batch; 0 if that is not known. */
    long samples(Object batch);
  }

  /** What the batches of a library are, and who knows them. */
  private static final Map<String, String> ADAPTERS =
      Map.of(
          "ai.djl.training.dataset.Batch", "io.coordl.djl.",
          "org.nd4j.linalg.dataset.api.DataSet", "io.coordl.dl4j.",
          "org.nd4j.linalg.dataset.api.MultiDataSet", "io.coordl.dl4j.");

  /** Kept in the class itself, so that neither outlives the other. */
  private final ClassValue<OfLibrary> sizes =
      new ClassValue<>() {
        @Override
        protected OfLibrary computeValue(Class<?> batch) {
          OfLibrary found = find(batch);
          return found == null ? unknown -> 0 : found;
        }
      };

  /** Knows the libraries that have an adapter. */
  public BatchSizes() {}

  @Override
  public long applyAsLong(Object batch) {
    try {
      return sizes.get(batch.getClass()).samples(batch);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }

  private static @Nullable OfLibrary find(@Nullable Class<?> type) {
    if (type == null) {
      return null;
    }
    String adapter = ADAPTERS.get(type.getName());
    if (adapter != null) {
      return make(adapter, type);
    }
    for (Class<?> implemented : type.getInterfaces()) {
      OfLibrary found = find(implemented);
      if (found != null) {
        return found;
      }
    }
    return find(type.getSuperclass());
  }

  private static @Nullable OfLibrary make(String adapter, Class<?> library) {
    try {
      ClassLoader loader = new LibraryLoader(library.getClassLoader(), adapter);
      return Class.forName(adapter + "BatchSize", true, loader)
          .asSubclass(OfLibrary.class)
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
