package example.bits;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * Demonstrates a bug of DJL on PyTorch: it frees the memory of the number in {@code mul(Number)} as
 * soon as a collection runs after that call, but {@code backward} still reads this memory.
 * Arguments: how many gradients to compute; optionally {@code held}, to keep the factor in an array
 * that stays open. A collection runs between the two calls, and other memory of the same size is
 * allocated and filled with NaN.
 *
 * <p>Prints the first wrong gradients, and how many are wrong.
 */
public final class ClosedNumber {
  private static final int SHOWN = 3;
  private static final int REUSED = 2_000;
  private static final int SIZE = 4;

  private ClosedNumber() {}

  public static void main(String[] args) throws InterruptedException {
    int count = Integer.parseInt(args[0]);
    boolean isHeld = args.length > 1;
    int wrong = 0;
    for (int i = 0; i < count; i++) {
      float gradient = gradient(isHeld);
      if (gradient != 1f / SIZE && ++wrong <= SHOWN) {
        System.out.println("gradient " + gradient + " instead of " + 1f / SIZE);
      }
    }
    System.out.println(wrong + " of " + count + " gradients are wrong");
  }

  /** Returns the derivative of half the mean square at 1. */
  private static float gradient(boolean isHeld) throws InterruptedException {
    try (NDManager manager = NDManager.newBaseManager()) {
      NDArray ones = manager.ones(new Shape(SIZE));
      ones.setRequiresGradient(true);
      try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
        NDArray square = ones.square();
        NDArray half = isHeld ? square.mul(manager.create(0.5f)) : square.mul(0.5f);
        NDArray loss = half.mean();
        System.gc();
        TimeUnit.MILLISECONDS.sleep(20); // Another thread of the JVM frees the memory.
        reuseMemory();
        collector.backward(loss);
      }
      return ones.getGradient().toFloatArray()[0];
    }
  }

  private static void reuseMemory() {
    for (int i = 0; i < REUSED; i++) {
      ByteBuffer.allocateDirect(Float.BYTES).order(ByteOrder.nativeOrder()).putFloat(0, Float.NaN);
    }
  }
}
