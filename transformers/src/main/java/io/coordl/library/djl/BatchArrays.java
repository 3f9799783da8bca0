package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Arrays that the program's own code has created, to be staged or cached; closed with their batch.
 */
final class BatchArrays implements PreparedBatch {
  static final String DATA = "data";
  static final String LABELS = "labels";

  private final @Nullable Batch batch;
  private final List<NDArray> arrays = new ArrayList<>();
  private final BatchLayout layout;

  private BatchArrays(
      @Nullable Batch batch, NDList data, NDList labels, List<BatchLayout.Array> more)
      throws CannotShareException {
    this.batch = batch;
    List<BatchLayout.Array> described = new ArrayList<>();
    describe(DATA, data, described);
    describe(LABELS, labels, described);
    described.addAll(more);
    layout = new BatchLayout(described);
  }

  /** Wraps a sample, which the program still owns; {@code more} are parts without values. */
  static BatchArrays view(NDList data, NDList labels, List<BatchLayout.Array> more)
      throws CannotShareException {
    return new BatchArrays(null, data, labels, more);
  }

  /**
   * Takes ownership of a batch, and closes it on failure.
   *
   * @param size expected number of items
   * @throws CannotShareException if the batch's class or size is not as expected, or if an array
   *     cannot be shared
   */
  static BatchArrays of(Batch batch, int size) throws CannotShareException {
    try {
      if (batch.getClass() != Batch.class || batch.getSize() != size) {
        throw new CannotShareException(
            String.format(
                "a fetch of %s items that returns %s samples (%s)",
                size, batch.getSize(), batch.getClass().getName()));
      }
      return new BatchArrays(batch, batch.getData(), batch.getLabels(), List.of());
    } catch (CannotShareException | RuntimeException | Error e) {
      batch.close();
      throw e;
    }
  }

  /** Wraps a batch, which the program still owns. */
  static BatchArrays view(Batch batch) throws CannotShareException {
    if (batch.getClass() != Batch.class) {
      throw new CannotShareException("batches of class " + batch.getClass().getName());
    }
    return new BatchArrays(batch, batch.getData(), batch.getLabels(), List.of());
  }

  private void describe(String role, NDList list, List<BatchLayout.Array> described)
      throws CannotShareException {
    for (NDArray array : list) {
      DataType type = array.getDataType();
      if (type == DataType.STRING || array.isSparse()) {
        throw new CannotShareException(
            "batches with " + (array.isSparse() ? "sparse arrays" : "arrays of text"));
      }
      String name = array.getName();
      if (name != null && name.isEmpty()) {
        throw new CannotShareException("batches with arrays whose name is empty");
      }
      described.add(
          new BatchLayout.Array(
              role,
              type.name(),
              name == null ? "" : name,
              Arrays.stream(array.getShape().getShape()).boxed().toList(),
              array.size() * type.getNumOfBytes()));
      arrays.add(array);
    }
  }

  /**
   * Whether two of the arrays are the same or share memory. Changing one in place then changes the
   * other, too, but would not if both were copies. Views on a device are not detected.
   */
  static boolean overlap(NDList data, NDList labels) {
    NDList all = new NDList(data).addAll(labels);
    for (int i = 0; i < all.size(); i++) {
      for (int j = 0; j < i; j++) {
        if (all.get(i) == all.get(j) || overlap(all.get(i), all.get(j))) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean overlap(NDArray one, NDArray other) {
    if (one.getDevice().isGpu()) {
      return false;
    }
    ByteBuffer first = one.toByteBuffer(true);
    ByteBuffer second = other.toByteBuffer(true);
    if (!first.isDirect() || !second.isDirect()) {
      return true; // Copies, whose address is unavailable.
    }
    // Only the lower bits of an address are known, so this may report overlaps that do not exist.
    int alignment = 1 << 30;
    int apart = first.alignmentOffset(0, alignment) - second.alignmentOffset(0, alignment);
    return (apart & alignment - 1) < second.remaining()
        || (-apart & alignment - 1) < first.remaining();
  }

  BatchLayout layout() {
    return layout;
  }

  @Override
  public long bytes() {
    return layout.bytes();
  }

  @Override
  public void writeTo(ByteBuffer target) {
    layout.writeTo(target);
    for (int i = 0; i < arrays.size(); i++) {
      layout.values(target, i).put(arrays.get(i).toByteBuffer(true));
    }
  }

  @Override
  public void close() {
    if (batch != null) {
      batch.close();
    }
  }
}
