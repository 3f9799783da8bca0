package io.coordl.gpu;

import io.coordl.gpu.Binding.NoWayException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Calls by the program's JNA, which DJL includes; for JDKs before 22. Unless the user asked for
 * GPUs, only once the program has initialised JNA: if that fails, the program must be the first to
 * see the {@link UnsatisfiedLinkError}.
 */
final class JnaNatives implements Natives {
  private final Object library;
  private final Method find;
  private final Method invoke;

  JnaNatives(@Nullable ClassLoader program, String name, boolean asked)
      throws ReflectiveOperationException, NoWayException {
    Class<?> type = Class.forName("com.sun.jna.NativeLibrary", asked, program);
    if (!asked && !isInitialized(type)) {
      throw new NoWayException("the program has not used JNA");
    }
    find = type.getMethod("getFunction", String.class);
    invoke = find.getReturnType().getMethod("invokeInt", Object[].class);
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
    return (int) invoke.invoke(find.invoke(library, function), (Object) arguments);
  }

  @Override
  public String binding() {
    return "JNA";
  }
}
