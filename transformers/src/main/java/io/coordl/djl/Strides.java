package io.coordl.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.util.NativeResource;
import io.coordl.pipeline.Symbols;
import java.lang.reflect.Method;
import java.util.function.Predicate;

/**
 * Whether the values of an array lie one behind the other, in the order of its dimensions. What
 * PyTorch computes of a transposed array has the same values as of one that is not, but the order
 * in which it adds them up, and so the last bit, may differ: bytes do not tell. Thread-safe.
 */
final class Strides {
  private static final String PYTORCH = "ai.djl.pytorch.engine.PtNDArray";

  /** The engine's own function, by the class of its arrays; false if this version has none. */
  private static final ClassValue<Predicate<NDArray>> CONTIGUOUS =
      new ClassValue<>() {
        @Override
        protected Predicate<NDArray> computeValue(Class<?> arrays) {
          try {
            Class<?> type =
                Class.forName("ai.djl.pytorch.jni.PyTorchLibrary", true, arrays.getClassLoader());
            Object library = Symbols.field(type, "LIB").get(null);
            Method function = type.getDeclaredMethod("torchIsContiguous", long.class);
            function.setAccessible(true);
            return array -> isContiguous(array, library, function);
          } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return array -> false;
          }
        }
      };

  private Strides() {}

  private static boolean isContiguous(NDArray array, Object library, Method function) {
    try {
      return (boolean) function.invoke(library, ((NativeResource<?>) array).getHandle());
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false;
    }
  }

  /** False if they do not, or if it cannot be told. */
  static boolean areDense(NDArray array) {
    return array.getClass().getName().equals(PYTORCH)
        && !array.isSparse()
        && CONTIGUOUS.get(array.getClass()).test(array);
  }
}
