package example.passes;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Shows why a program must not get arrays over memory that it does not own: a batch is in a buffer,
 * the program closes the batch, and the buffer is refilled with the next batch, like a slot of a
 * staging buffer. Prints, for three cases, the values that the program then reads and those that it
 * should read.
 */
public final class ForeignMemoryArrays {
  private static final int VALUES = 4;

  private ForeignMemoryArrays() {}

  public static void main(String[] args) {
    try (NDManager manager = NDManager.newBaseManager()) {
      detached(manager);
      viewElsewhere(manager);
      lateBackward(manager);
    }
  }

  private static ByteBuffer slot() {
    ByteBuffer slot =
        ByteBuffer.allocateDirect(VALUES * Float.BYTES).order(ByteOrder.nativeOrder());
    fill(slot, 1);
    return slot;
  }

  private static void fill(ByteBuffer slot, float value) {
    for (int i = 0; i < VALUES; i++) {
      slot.putFloat(i * Float.BYTES, value);
    }
  }

  private static NDArray over(ByteBuffer slot, NDManager batch) {
    return batch.create(slot, new Shape(VALUES), DataType.FLOAT32);
  }

  /** A view that is detached from the batch; a hook on detach could still copy it. */
  private static void detached(NDManager manager) {
    ByteBuffer slot = slot();
    NDManager batch = manager.newSubManager();
    NDArray view = over(slot, batch).get("1:3");
    view.detach();
    batch.close();
    fill(slot, 9);
    print("detached view", view, 1);
    view.close();
  }

  /** A view that always belonged to another manager; nothing is detached or attached. */
  private static void viewElsewhere(NDManager manager) {
    ByteBuffer slot = slot();
    NDManager batch = manager.newSubManager();
    NDArray view = over(slot, batch).get(manager, 0);
    batch.close();
    fill(slot, 9);
    print("view of another manager", view, 1);
  }

  /**
   * A gradient that is computed after the batch is closed. No DJL object references the parts of
   * the batch that backward needs, so no hook detects the use.
   */
  private static void lateBackward(NDManager manager) {
    ByteBuffer slot = slot();
    NDArray weights = manager.full(new Shape(VALUES), 5f);
    weights.setRequiresGradient(true);
    try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
      NDManager batch = manager.newSubManager();
      NDArray prediction = weights.mul(over(slot, batch));
      batch.close();
      fill(slot, 9);
      collector.backward(prediction.sum());
    }
    print("gradient after the batch", weights.getGradient(), 1);
  }

  private static void print(String what, NDArray array, float expected) {
    float[] values = array.toFloatArray();
    float[] right = new float[values.length];
    Arrays.fill(right, expected);
    System.out.println(
        what
            + ": "
            + Arrays.toString(values)
            + ", expected "
            + Arrays.toString(right)
            + (Arrays.equals(values, right) ? "" : ": WRONG"));
  }
}
