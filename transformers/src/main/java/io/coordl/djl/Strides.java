package io.coordl.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.util.NativeResource;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Whether the values of an array lie one behind the other, in the order of its dimensions. What
 * PyTorch computes of a transposed array has the same values as of one that is not, but the order
 * in which it adds them up, and so the last bit, may differ: bytes do not tell.
 */
final class Strides {
  private static final String PYTORCH = "ai.djl.pytorch.engine.PtNDArray";

  private Strides() {}

  /** False if they do not, or if it cannot be told. */
  static boolean areDense(NDArray array) {
    if (!array.getClass().getName().equals(PYTORCH) || array.isSparse()) {
      return false;
    }
    try {
      Class<?> type =
          Class.forName(
              "ai.djl.pytorch.jni.PyTorchLibrary", true, array.getClass().getClassLoader());
      Field library = type.getDeclaredField("LIB");
      library.setAccessible(true);
      Method isContiguous = type.getDeclaredMethod("torchIsContiguous", long.class);
      isContiguous.setAccessible(true);
      return (boolean)
          isContiguous.invoke(library.get(null), ((NativeResource<?>) array).getHandle());
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false; // Another version of the engine: then nothing is kept.
    }
  }
}
