package io.coordl.gpu;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Calls native functions through the JavaCPP presets for CUDA, any version; their methods are named
 * after the functions. Calling a function that the driver lacks aborts the process, so {@link Nvml}
 * first reads the version of the driver.
 */
final class PresetNatives implements Natives {
  private static final String JAVACPP = "org.bytedeco.javacpp.";
  private static final String PACKAGE = "org.bytedeco.cuda.global.";

  private final Class<?> functions;
  private final Class<?> pointer;
  private final Constructor<?> ofBuffer;
  private final Field address;

  PresetNatives(@Nullable ClassLoader loader, String type) throws ReflectiveOperationException {
    functions = Class.forName(PACKAGE + type, true, loader);
    pointer = Class.forName(JAVACPP + "Pointer", true, loader);
    ofBuffer =
        Class.forName(JAVACPP + "BytePointer", true, loader).getConstructor(ByteBuffer.class);
    address = pointer.getDeclaredField("address");
    address.setAccessible(true);
  }

  @Override
  public int invoke(String function, Object... arguments)
      throws ReflectiveOperationException, UnavailableException {
    Method method = method(function, arguments.length);
    Object[] passed = new Object[arguments.length];
    for (int i = 0; i < passed.length; i++) {
      passed[i] = argument(method, i, arguments[i]);
    }
    int result = (int) method.invoke(null, passed);
    for (int i = 0; i < passed.length; i++) {
      if (isResult(method, i) && arguments[i] instanceof ByteBuffer to) {
        to.putLong(0, address.getLong(passed[i]));
      }
    }
    return result;
  }

  /** Finds the method that takes JavaCPP's pointers; others take buffers and arrays. */
  private Method method(String function, int count) throws UnavailableException {
    // The presets use the names in CUDA's headers, which have no version suffix.
    String plain = function.startsWith("cu") ? function.replaceFirst("_v\\d$", "") : function;
    for (Method method : functions.getMethods()) {
      if (method.getName().equals(plain)
          && method.getParameterCount() == count
          && Arrays.stream(method.getParameterTypes()).allMatch(this::fits)) {
        return method;
      }
    }
    throw new UnavailableException("the JavaCPP presets have no " + plain);
  }

  private boolean fits(Class<?> parameter) {
    return parameter.isPrimitive()
        || (pointer.isAssignableFrom(parameter)
            && !parameter.getName().equals(JAVACPP + "PointerPointer"));
  }

  private Object argument(Method method, int at, Object given) throws ReflectiveOperationException {
    Class<?> type = method.getParameterTypes()[at];
    if (type.isPrimitive()) {
      return given;
    }
    Object created = type.getConstructor(pointer).newInstance((Object) null);
    if (given instanceof Long value) {
      address.setLong(created, value);
    } else if (!isResult(method, at)) {
      address.setLong(created, address.getLong(ofBuffer.newInstance(given)));
    }
    return created;
  }

  /**
   * Whether the function returns a pointer through this argument, which JavaCPP stores in the
   * object.
   */
  private static boolean isResult(Method method, int at) {
    return Arrays.stream(method.getParameterAnnotations()[at])
        .anyMatch(annotation -> annotation.annotationType().getSimpleName().equals("ByPtrPtr"));
  }

  @Override
  public String binding() {
    return "JavaCPP presets";
  }
}
