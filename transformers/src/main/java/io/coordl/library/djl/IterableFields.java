package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import io.coordl.pipeline.LibraryField;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/** Non-public members of {@link DataIterable} and {@link Batch}. Thread-safe. */
final class IterableFields {
  private static final Sampler NO_ORDER =
      new Sampler() {
        @Override
        public Iterator<List<Long>> sample(RandomAccessDataset dataset) {
          return Collections.emptyIterator();
        }

        @Override
        public int getBatchSize() {
          return -1;
        }
      };

  final LibraryField<RandomAccessDataset> dataset = of("dataset", RandomAccessDataset.class);
  final LibraryField<NDManager> manager = of("manager", NDManager.class);
  final LibraryField<Batchifier> dataBatchifier = of("dataBatchifier", Batchifier.class);
  final LibraryField<Batchifier> labelBatchifier = of("labelBatchifier", Batchifier.class);
  final LibraryField<Pipeline> pipeline = of("pipeline", Pipeline.class);
  final LibraryField<Pipeline> targetPipeline = of("targetPipeline", Pipeline.class);
  final LibraryField<Device> device = of("device", Device.class);
  final LibraryField<ExecutorService> executor = of("executor", ExecutorService.class);

  /** The iterator of the iterable's sampler. */
  @SuppressWarnings("rawtypes") // The declared type of the field.
  final LibraryField<Iterator> sample = of("sample", Iterator.class);

  final FixedPipeline.Copies copies = new FixedPipeline.Copies();

  /** The manager of a batch. */
  final LibraryField<NDManager> batchManager =
      LibraryField.of(Batch.class, "manager", NDManager.class);

  private final Method fetch;

  IterableFields() throws ReflectiveOperationException {
    fetch = DataIterable.class.getDeclaredMethod("fetch", List.class, int.class);
    if (fetch.getReturnType() != Batch.class) {
      throw new NoSuchMethodException(fetch.toString());
    }
    fetch.setAccessible(true);
  }

  private static <T> LibraryField<T> of(String name, Class<T> type) throws NoSuchFieldException {
    return LibraryField.of(DataIterable.class, name, type);
  }

  /** Returns the frame of a batch of these samples: everything except its arrays. */
  BatchFrame frame(DataIterable iterable, List<Long> indices, int progress) {
    return new BatchFrame(
        indices.size(),
        dataBatchifier.get(iterable),
        labelBatchifier.get(iterable),
        progress,
        dataset.require(iterable).size(),
        indices,
        device.get(iterable));
  }

  /** Creates an iterable that fetches like the program's; only its fetch method is used. */
  DataIterable like(
      DataIterable iterable,
      RandomAccessDataset data,
      NDManager target,
      @Nullable Pipeline transforms,
      @Nullable Pipeline labelTransforms) {
    return new DataIterable(
        data,
        target,
        NO_ORDER,
        dataBatchifier.get(iterable),
        labelBatchifier.get(iterable),
        transforms,
        labelTransforms,
        null,
        0,
        device.get(iterable));
  }

  /**
   * Calls {@code fetch} as the library does, so that an override runs. Rethrows its exceptions;
   * throws {@link IllegalStateException} if it returns null.
   */
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
