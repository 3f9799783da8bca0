package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.coordl.pipeline.BatchLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything in a batch except its arrays. Together with their bytes, it suffices to create an
 * equal batch. Refers to no array of the program.
 *
 * <p>The bytes are copied; for a GPU, this is the one copy that the program's own array would need,
 * too. Arrays over staged bytes would be safe only if all their readers were known. But PyTorch's
 * arrays share memory unseen by DJL, as views and as values saved for the gradient of an operation.
 * An array over foreign memory ({@code from_blob} without a deleter) does not prevent reuse of that
 * memory for another batch, and DJL does not report how many other arrays share it. Closing,
 * detaching or attaching the batch proves nothing either: if the program keeps a prediction and
 * later calls {@code backward} on it, PyTorch reads the closed batch without any DJL object. The
 * test program {@code example.passes.ForeignMemoryArrays} shows this.
 *
 * @param device where the arrays belong; null for the manager's own
 */
record BatchFrame(
    int size,
    @Nullable Batchifier data,
    @Nullable Batchifier labels,
    long progress,
    long progressTotal,
    @Nullable List<?> indices,
    @Nullable Device device) {

  /**
   * Creates the batch.
   *
   * @param manager used for this batch alone; closed on failure
   * @param bytes as {@link BatchArrays} writes them; not retained
   * @throws IOException if the bytes have another format
   */
  Batch make(NDManager manager, ByteBuffer bytes) throws IOException {
    try {
      BatchLayout layout = BatchLayout.read(bytes);
      return onDevice(
          manager,
          arrays(manager, layout, bytes, BatchArrays.DATA),
          arrays(manager, layout, bytes, BatchArrays.LABELS));
    } catch (IOException | RuntimeException | Error e) {
      manager.close();
      throw e;
    }
  }

  /** Like {@link #of}, with the arrays copied to the device where they belong. */
  Batch onDevice(NDManager manager, NDList dataArrays, NDList labelArrays) {
    return device == null
        ? of(manager, dataArrays, labelArrays)
        : of(manager, dataArrays.toDevice(device, false), labelArrays.toDevice(device, false));
  }

  /** Returns the batch with these arrays, which belong to its manager. */
  Batch of(NDManager manager, NDList dataArrays, NDList labelArrays) {
    return new Batch(
        manager, dataArrays, labelArrays, size, data, labels, progress, progressTotal, indices);
  }

  /**
   * Whether creating an array copies its bytes to a GPU, and completes the copy before it returns.
   */
  static boolean copiesToGpu(NDManager manager) {
    return manager.getDevice().isGpu()
        && manager.getEngine().getEngineName().equals("PyTorch"); // Unknown for other engines.
  }

  /** Returns the arrays of one role, each with its own memory. */
  static NDList arrays(NDManager manager, BatchLayout layout, ByteBuffer bytes, String role) {
    NDList arrays = new NDList();
    for (int i = 0; i < layout.arrays().size(); i++) {
      BatchLayout.Array array = layout.arrays().get(i);
      if (array.role().equals(role)) {
        arrays.add(array(manager, array, layout.values(bytes, i)));
      }
    }
    return arrays;
  }

  /**
   * Creates an array with its own memory. The engine copies host memory only when it creates an
   * array on a device. An array in main memory would share the staged bytes, and its views could
   * outlive them unnoticed.
   */
  static NDArray array(NDManager manager, BatchLayout.Array array, ByteBuffer values) {
    Shape shape = new Shape(array.shape());
    DataType type = DataType.valueOf(array.type());
    NDArray made =
        EngineMemory.isOf(manager) ? EngineMemory.copy(manager, shape, type, values) : null;
    if (made == null) {
      made = manager.create(values, shape, type);
      if (!made.getDevice().isGpu()) {
        NDArray over = made;
        made = over.duplicate();
        over.close();
      }
    }
    if (!array.name().isEmpty()) {
      made.setName(array.name());
    }
    return made;
  }
}
