package io.coordl.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import io.coordl.pipeline.Symbols;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/** What a {@link DataIterable} keeps to itself and its subclasses. Thread-safe. */
final class IterableFields {
  private final Field dataset =
      Symbols.field(DataIterable.class, "dataset", RandomAccessDataset.class);
  private final Field manager = Symbols.field(DataIterable.class, "manager", NDManager.class);
  private final Field dataBatchifier =
      Symbols.field(DataIterable.class, "dataBatchifier", Batchifier.class);
  private final Field labelBatchifier =
      Symbols.field(DataIterable.class, "labelBatchifier", Batchifier.class);
  private final Field pipeline = Symbols.field(DataIterable.class, "pipeline", Pipeline.class);
  private final Field targetPipeline =
      Symbols.field(DataIterable.class, "targetPipeline", Pipeline.class);
  private final Field device = Symbols.field(DataIterable.class, "device", Device.class);
  private final Field executor =
      Symbols.field(DataIterable.class, "executor", ExecutorService.class);
  private final Field sample = Symbols.field(DataIterable.class, "sample", Iterator.class);
  private final Field batchManager = Symbols.field(Batch.class, "manager", NDManager.class);
  private final Method fetch;

  /**
   * Finds them.
   *
   * @throws ReflectiveOperationException if the library is another than this was compiled against
   */
  IterableFields() throws ReflectiveOperationException {
    fetch = DataIterable.class.getDeclaredMethod("fetch", List.class, int.class);
    if (fetch.getReturnType() != Batch.class) {
      throw new NoSuchMethodException(fetch.toString());
    }
    fetch.setAccessible(true);
  }

  RandomAccessDataset dataset(DataIterable iterable) {
    return (RandomAccessDataset) present(dataset, iterable);
  }

  NDManager manager(DataIterable iterable) {
    return (NDManager) present(manager, iterable);
  }

  @Nullable Batchifier dataBatchifier(DataIterable iterable) {
    return (Batchifier) get(dataBatchifier, iterable);
  }

  @Nullable Batchifier labelBatchifier(DataIterable iterable) {
    return (Batchifier) get(labelBatchifier, iterable);
  }

  @Nullable Pipeline pipeline(DataIterable iterable) {
    return (Pipeline) get(pipeline, iterable);
  }

  @Nullable Pipeline targetPipeline(DataIterable iterable) {
    return (Pipeline) get(targetPipeline, iterable);
  }

  @Nullable Device device(DataIterable iterable) {
    return (Device) get(device, iterable);
  }

  /** What its sampler yields. */
  @Nullable Object sample(DataIterable iterable) {
    return get(sample, iterable);
  }

  /** The batch belongs to that manager. */
  void manage(Batch batch, NDManager owner) {
    try {
      batchManager.set(batch, owner);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // It was made accessible.
    }
  }

  @Nullable ExecutorService executor(DataIterable iterable) {
    return (ExecutorService) get(executor, iterable);
  }

  /** What a batch of these samples has beside its arrays. */
  BatchFrame frame(DataIterable iterable, List<Long> indices, int progress) {
    return new BatchFrame(
        indices.size(),
        dataBatchifier(iterable),
        labelBatchifier(iterable),
        progress,
        dataset(iterable).size(),
        indices,
        device(iterable));
  }

  private static Object present(Field field, DataIterable iterable) {
    Object value = get(field, iterable);
    if (value == null) {
      throw new IllegalStateException("a data iterable without " + field.getName());
    }
    return value;
  }

  private static @Nullable Object get(Field field, DataIterable iterable) {
    try {
      return field.get(iterable);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // It was made accessible.
    }
  }

  /** The iterable's own {@code fetch}, overridden or not; throws what it throws. */
  Batch fetch(DataIterable iterable, List<Long> indices, int progress) throws Exception {
    try {
      Batch batch = (Batch) fetch.invoke(iterable, indices, progress);
      if (batch == null) {
        throw new IllegalStateException(iterable.getClass().getName() + ".fetch returned null");
      }
      return batch;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof Exception exception ? exception : e;
    }
  }
}
