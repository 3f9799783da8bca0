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
 * What a batch has beside its arrays: with their bytes, an equal batch is made of it. Refers to no
 * array of the program.
 *
 * <p>The bytes are copied; to a GPU that is the one copy that the program's own array takes, too.
 * Arrays over staged bytes would be sound only as long as their readers were known. PyTorch's
 * arrays share memory behind DJL's back: views, and what the gradient of an operation needs later.
 * An array made of foreign memory ({@code from_blob} without a deleter) does not keep us from
 * giving that memory to another batch, and how many others share it DJL does not tell. Closing the
 * batch, detaching or attaching are no sign either: a prediction that the program keeps goes back
 * to the batch in {@code backward}, after the batch was closed, through no object of DJL's. The
 * test program {@code example.passes.OverForeignMemory} shows it.
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
   * The batch.
   *
   * @param manager of this batch alone, closed if it cannot be made
   * @param bytes as {@link BatchArrays} writes them; not kept
   * @throws IOException if the bytes are none of ours
   */
  Batch make(NDManager manager, ByteBuffer bytes) throws IOException {
    try {
      BatchLayout layout = BatchLayout.read(bytes);
      NDList dataArrays = arrays(manager, layout, bytes, BatchArrays.DATA);
      NDList labelArrays = arrays(manager, layout, bytes, BatchArrays.LABELS);
      if (device != null) {
        dataArrays = dataArrays.toDevice(device, false);
        labelArrays = labelArrays.toDevice(device, false);
      }
      return new Batch(
          manager, dataArrays, labelArrays, size, data, labels, progress, progressTotal, indices);
    } catch (IOException | RuntimeException | Error e) {
      manager.close();
      throw e;
    }
  }

  /** Whether arrays are copied to a GPU, and the copy is over when they are there. */
  static boolean copiesToGpu(NDManager manager) {
    return manager.getDevice().isGpu()
        && manager.getEngine().getEngineName().equals("PyTorch"); // Others are not known.
  }

  /** Those of one role, each of its own memory. */
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
   * An array of its own memory: the engine copies what is on the host only to move it to a device,
   * and views of an array over staged bytes would outlive them unseen.
   */
  private static NDArray array(NDManager manager, BatchLayout.Array array, ByteBuffer values) {
    Shape shape = new Shape(array.shape());
    DataType type = DataType.valueOf(array.type());
    NDArray made = manager.create(values, shape, type);
    if (!made.getDevice().isGpu()) {
      NDArray over = made;
      made = over.duplicate();
      over.close();
    }
    if (!array.name().isEmpty()) {
      made.setName(array.name());
    }
    return made;
  }
}
