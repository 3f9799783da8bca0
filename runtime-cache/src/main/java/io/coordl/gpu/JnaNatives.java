package io.coordl.gpu;

import io.coordl.gpu.Binding.NoWayException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * By JNA of the program's, as DJL brings it; for JDKs before 22. Unless the user asked for GPUs,
 * only if the program has initialised JNA: if it cannot be, the program is to see that first, as
 * the {@link UnsatisfiedLinkError} that it is.
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

  /** Whether it is, without causing it; false if the JDK does not tell, as from 22 on. */
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
