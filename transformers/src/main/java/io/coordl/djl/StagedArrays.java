package io.coordl.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import io.coordl.pipeline.BatchLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A staged batch as the iterable's own {@code fetch} would have made it, copied out of the staging
 * buffer; to a GPU that is the one copy that the program's own array takes, too.
 *
 * <p>Arrays over the staged bytes would be sound only as long as somebody knew who reads them.
 * PyTorch's arrays share memory behind DJL's back: views, and what the gradient of an operation
 * needs later. An array made of foreign memory ({@code from_blob} without a deleter) keeps nobody
 * from giving that memory to another batch, and how many others share it DJL does not tell. Closing
 * the batch, detaching or attaching are no sign either: a prediction that the program keeps goes
 * back to the batch in {@code backward}, after the batch was closed, through no object of DJL's.
 * The test program {@code example.passes.OverForeignMemory} shows it.
 */
final class StagedArrays {
  private StagedArrays() {}

  /**
   * The batch.
   *
   * @param staged its bytes, which it does not keep
   * @throws IOException if the bytes are none of ours
   */
  static Batch batch(
      IterableFields fields,
      DataIterable iterable,
      ByteBuffer staged,
      List<Long> indices,
      int progress)
      throws IOException {
    NDManager manager = fields.manager(iterable).newSubManager();
    try {
      BatchLayout layout = BatchLayout.read(staged);
      NDList data = new NDList();
      NDList labels = new NDList();
      for (int i = 0; i < layout.arrays().size(); i++) {
        BatchLayout.Array array = layout.arrays().get(i);
        NDArray made = array(manager, array, layout.values(staged, i));
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
