package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import io.coordl.library.BatchLayout;
import io.coordl.staging.StagedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A staged batch as the iterable's own {@code fetch} would have made it. */
final class StagedArrays {
  private StagedArrays() {}

  /**
   * The batch; {@code staged} is given back, whatever the outcome.
   *
   * @throws IOException if the bytes are none of ours
   */
  static Batch batch(
      IterableFields fields,
      DataIterable iterable,
      StagedBatch staged,
      List<Long> indices,
      int progress)
      throws IOException {
    NDManager manager = fields.manager(iterable).newSubManager();
    try {
      BatchLayout layout = BatchLayout.read(staged.bytes());
      NDList data = new NDList();
      NDList labels = new NDList();
      for (int i = 0; i < layout.arrays().size(); i++) {
        BatchLayout.Array array = layout.arrays().get(i);
        NDArray made = array(manager, array, layout.values(staged.bytes(), i));
        (array.role().equals(BatchArrays.DATA) ? data : labels).add(made);
      }
      Device device = fields.device(iterable);
      if (device != null) {
        data = data.toDevice(device, false);
        labels = labels.toDevice(device, false);
      }
      return new Batch(
          manager,
          data,
          labels,
          indices.size(),
          fields.dataBatchifier(iterable),
          fields.labelBatchifier(iterable),
          progress,
          fields.dataset(iterable).size(),
          indices);
    } catch (IOException | RuntimeException | Error e) {
      manager.close();
      throw e;
    } finally {
      staged.release();
    }
  }

  /**
   * An array of its own memory: the engine copies what is on the host only to move it to a device,
   * and views of an array over staged bytes would outlive them unseen.
   */
  static NDArray array(NDManager manager, BatchLayout.Array array, ByteBuffer values) {
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
