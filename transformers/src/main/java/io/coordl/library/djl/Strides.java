package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.util.NativeResource;
import io.coordl.pipeline.Symbols;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * Checks whether the values of an array are contiguous in memory, in the order of its dimensions.
 * PyTorch's results for a transposed array may differ in the last bit, because it sums the same
 * values in another order. An array's bytes, as DJL returns them, do not show its memory order.
 * Thread-safe.
 */
final class Strides {
  private static final String PYTORCH = "ai.djl.pytorch.engine.PtNDArray";

  /** The engine's own test, by array class; always false if this version of the engine has none. */
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

  /**
   * Arrays of more dimensions may have a memory order of their own, which a batch of them inherits.
   */
  private static final int MAX_DIMENSIONS = 3;

  /** Whether the engine stacks non-dense arrays into a dense one; by array class. */
  private static final ClassValue<AtomicReference<Boolean>> STACKED =
      new ClassValue<>() {
        @Override
        protected AtomicReference<Boolean> computeValue(Class<?> arrays) {
          return new AtomicReference<>();
        }
      };

  private Strides() {}

  /**
   * Whether a batch stacked from this array equals one stacked from a dense copy of it. False if
   * unknown.
   */
  static boolean areStackedDense(NDArray array) {
    if (!array.getClass().getName().equals(PYTORCH)
        || array.isSparse()
        || array.getShape().dimension() > MAX_DIMENSIONS) {
      return false;
    }
    AtomicReference<Boolean> known = STACKED.get(array.getClass());
    Boolean found = known.get();
    if (found == null) {
      found = stacksDense(array.getManager());
      known.set(found);
    }
    return found;
  }

  /** Tests the layout of {@code ToTensor}: channels come first but are last in memory. */
  private static boolean stacksDense(NDManager manager) {
    try (NDManager own = manager.newSubManager()) {
      NDArray some = own.arange(18f).reshape(2, 3, 3).transpose(2, 0, 1);
      NDArray stack = NDArrays.stack(new NDList(some));
      return !areDense(some)
          && areDense(stack)
          && stack.toByteBuffer(true).equals(some.toByteBuffer(true));
    } catch (RuntimeException e) {
      return false;
    }
  }

  private static boolean isContiguous(NDArray array, Object library, Method function) {
    try {
      return (boolean) function.invoke(library, ((NativeResource<?>) array).getHandle());
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false;
    }
  }

  /** Whether the values are dense; false if unknown. */
  static boolean areDense(NDArray array) {
    return array.getClass().getName().equals(PYTORCH)
        && !array.isSparse()
        && CONTIGUOUS.get(array.getClass()).test(array);
  }
}
