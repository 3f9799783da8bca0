package io.coordl.gpu;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Calls by the program's JNA, which DJL includes; for JDKs before 22. */
final class JnaNatives implements Natives {
  private final Object library;
  private final Method find;
  private final Method invoke;

  JnaNatives(@Nullable ClassLoader program, String name) throws ReflectiveOperationException {
    Class<?> type = Class.forName("com.sun.jna.NativeLibrary", true, program);
    find = type.getMethod("getFunction", String.class);
    invoke = find.getReturnType().getMethod("invokeInt", Object[].class);
    library = type.getMethod("getInstance", String.class).invoke(null, name);
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
