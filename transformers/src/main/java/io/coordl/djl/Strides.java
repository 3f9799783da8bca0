package io.coordl.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.util.NativeResource;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Whether the values of an array lie one behind the other, in the order of its dimensions. What
 * PyTorch computes of a transposed array has the same values as of one that is not, but the order
 * in which it adds them up, and so the last bit, may differ: bytes do not tell. Thread-safe.
 */
final class Strides {
  private static final String PYTORCH = "ai.djl.pytorch.engine.PtNDArray";

  /**
   * The engine's own function.
   *
   * @param arrays class of the arrays that it is asked of
   * @param library null if this version of the engine has none
   */
  private record Contiguous(Class<?> arrays, @Nullable Object library, @Nullable Method function) {
    static Contiguous of(Class<?> arrays) {
      try {
        Class<?> type =
            Class.forName("ai.djl.pytorch.jni.PyTorchLibrary", true, arrays.getClassLoader());
        Field library = type.getDeclaredField("LIB");
        library.setAccessible(true);
        Method function = type.getDeclaredMethod("torchIsContiguous", long.class);
        function.setAccessible(true);
        return new Contiguous(arrays, library.get(null), function);
      } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
        return new Contiguous(arrays, null, null);
      }
    }

    boolean is(NDArray array) {
      try {
        return function != null
            && (boolean) function.invoke(library, ((NativeResource<?>) array).getHandle());
      } catch (ReflectiveOperationException | RuntimeException e) {
        return false;
      }
    }
  }

  private static volatile @Nullable Contiguous engine;

  private Strides() {}

  /** False if they do not, or if it cannot be told. */
  static boolean areDense(NDArray array) {
    Contiguous known = engine;
    if (known == null || known.arrays != array.getClass()) {
      if (!array.getClass().getName().equals(PYTORCH)) {
        return false;
      }
      known = Contiguous.of(array.getClass());
      engine = known;
    }
    return !array.isSparse() && known.is(array);
  }
}
