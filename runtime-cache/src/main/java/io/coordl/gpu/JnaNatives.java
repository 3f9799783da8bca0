package io.coordl.gpu;

import io.coordl.gpu.Binding.BindingUnavailableException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Calls native functions through the program's own JNA, which DJL includes. Needed on JDKs before
 * 22. Unless the user requested GPUs, this binding is unavailable until the program has initialised
 * JNA: if JNA cannot link, the program must see the first {@link UnsatisfiedLinkError}, not the
 * agent.
 */
final class JnaNatives implements Natives {
  private final Object library;
  private final Method getFunction;
  private final Method invoke;

  JnaNatives(@Nullable ClassLoader program, String name, boolean requested)
      throws ReflectiveOperationException, BindingUnavailableException {
    Class<?> type = Class.forName("com.sun.jna.NativeLibrary", requested, program);
    if (!requested && !isInitialized(type)) {
      throw new BindingUnavailableException("the program has not used JNA");
    }
    getFunction = type.getMethod("getFunction", String.class);
    invoke = getFunction.getReturnType().getMethod("invokeInt", Object[].class);
    library = type.getMethod("getInstance", String.class).invoke(null, name);
  }

  /** Whether the class is initialised, without initialising it; false on JDK 22 and later. */
  static boolean isInitialized(Class<?> type) {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field instance = unsafe.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      return !(boolean)
          unsafe.getMethod("shouldBeInitialized", Class.class).invoke(instance.get(null), type);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false;
    }
  }

  @Override
  public int invoke(String function, Object... arguments) throws ReflectiveOperationException {
    return (int) invoke.invoke(getFunction.invoke(library, function), (Object) arguments);
  }

  @Override
  public String binding() {
    return "JNA";
  }
}
