package io.coordl.pipeline;

import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How many samples a batch has, or how many epochs a trainer makes, by the adapter of the library
 * that its class is of; 0 if that is not known. Never throws.
 */
public final class LibraryCounts implements ToLongFunction<Object> {
  /** What the objects of a library are, and who knows them. */
  private static final Map<String, String> ADAPTERS =
      Map.of(
          "ai.djl.training.dataset.Batch", "io.coordl.djl.BatchSize",
          "org.nd4j.linalg.dataset.api.DataSet", "io.coordl.dl4j.BatchSize",
          "org.nd4j.linalg.dataset.api.MultiDataSet", "io.coordl.dl4j.BatchSize",
          "org.deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer",
              "io.coordl.dl4j.EarlyStoppingEpochs");

  /** Kept in the class itself, so that neither outlives the other. */
  private final ClassValue<ToLongFunction<Object>> adapters =
      new ClassValue<>() {
        @Override
        protected ToLongFunction<Object> computeValue(Class<?> counted) {
          ToLongFunction<Object> found = find(counted);
          return found == null ? unknown -> 0 : found;
        }
      };

  @Override
  public long applyAsLong(Object counted) {
    try {
      return adapters.get(counted.getClass()).applyAsLong(counted);
    } catch (RuntimeException | LinkageError e) {
      return 0;
    }
  }

  private static @Nullable ToLongFunction<Object> find(Class<?> type) {
    String adapter = ADAPTERS.get(type.getName());
    return adapter != null
        ? make(adapter, type)
        : Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()))
            .map(LibraryCounts::find)
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
