package io.coordl.library.djl;

import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Transform;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A picture with a shape but no pixels. Transforms run over it to draw their random numbers, and it
 * records their crops and resizes; any use that needs pixels throws.
 */
final class ShapeOnly implements InvocationHandler {
  /**
   * A crop, or a bilinear resize of the whole picture.
   *
   * @param x left edge of a crop
   * @param y upper edge of a crop
   */
  record Step(boolean resizes, int x, int y, int width, int height) {}

  @SuppressWarnings("EnumOrdinal") // The library itself passes the ordinal.
  private static final int BILINEAR = Image.Interpolation.BILINEAR.ordinal();

  private final Shape shape;
  private final List<Step> steps;
  private final NDArray array = proxy(NDArray.class);
  private final NDArrayEx internal = proxy(NDArrayEx.class);

  private ShapeOnly(Shape shape, List<Step> steps) {
    this.shape = shape;
    this.steps = steps;
  }

  private <T> T proxy(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(NDArray.class.getClassLoader(), new Class<?>[] {type}, this));
  }

  /**
   * Returns the steps that the transforms would apply to a picture, with the same random draws.
   *
   * @param picture shape of the picture: height, width, channels
   * @throws UnsupportedOperationException if a transform needs more than the shape
   * @throws RuntimeException if a transform throws it
   */
  static List<Step> steps(List<Transform> transforms, Shape picture) {
    NDArray at = new ShapeOnly(picture, List.of()).array;
    for (Transform transform : transforms) {
      at = transform.transform(at);
    }
    if (Proxy.isProxyClass(at.getClass())
        && Proxy.getInvocationHandler(at) instanceof ShapeOnly last) {
      return last.steps;
    }
    throw new UnsupportedOperationException("a transform returns an array of its own");
  }

  @Override
  public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) {
    Object[] given = arguments == null ? new Object[0] : arguments;
    return switch (method.getName()) {
      case "getShape" -> shape;
      case "getDataType" -> DataType.UINT8;
      case "getNDArrayInternal" -> internal;
      case "getArray" -> array;
      case "close" -> null;
      case "equals" -> self == given[0];
      case "hashCode" -> System.identityHashCode(self);
      case "crop" -> crop((int) given[0], (int) given[1], (int) given[2], (int) given[3]);
      case "resize" -> resize((int) given[0], (int) given[1], (int) given[2]);
      // The library's flips discard this copy.
      case "flip" -> new ShapeOnly(shape, unknown()).array;
      default -> throw new UnsupportedOperationException(method.toString());
    };
  }

  /** Returns the steps of an array that must not be the result. */
  private static List<Step> unknown() {
    return List.of(new Step(false, -1, -1, -1, -1));
  }

  private NDArray crop(int x, int y, int width, int height) {
    return then(new Step(false, x, y, width, height));
  }

  private NDArray resize(int width, int height, int interpolation) {
    if (interpolation != BILINEAR) {
      throw new UnsupportedOperationException("another interpolation");
    }
    return then(new Step(true, 0, 0, width, height));
  }

  private NDArray then(Step step) {
    List<Step> more = new ArrayList<>(steps);
    more.add(step);
    return new ShapeOnly(new Shape(step.height, step.width, shape.get(2)), more).array;
  }
}
