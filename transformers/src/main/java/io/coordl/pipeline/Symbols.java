package io.coordl.pipeline;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;

/**
 * Checks, once per loader, that a library is as our code was compiled against: a class that does
 * not fit must be found before it is used, not while the program trains.
 */
public final class Symbols {
  private Symbols() {}

  /** A field of the library that our code uses, accessible. */
  public static Field field(Class<?> owner, String name) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /** As {@link #field(Class, String)}. */
  public static Field field(Class<?> owner, String name, Class<?> type)
      throws NoSuchFieldException {
    Field field = field(owner, name);
    if (field.getType() != type) {
      throw new NoSuchFieldException(owner.getName() + "." + name + " is a " + field.getType());
    }
    return field;
  }

  /** A method of the library that our code calls. */
  public static void require(Class<?> type, Class<?> result, String method, Class<?>... parameters)
      throws NoSuchMethodException {
    Method found = type.getMethod(method, parameters);
    if (found.getReturnType() != result) {
      throw new NoSuchMethodException(
          type.getName() + "." + method + " returns " + found.getReturnType().getName());
    }
  }

  /** A constructor of the library that our code calls. */
  public static void requireConstructor(Class<?> type, Class<?>... parameters)
      throws NoSuchMethodException {
    Objects.requireNonNull(type.getConstructor(parameters));
  }

  /** An interface of the library that a class of ours implements: completely, in this version. */
  public static void requireImplemented(Class<?> type, Class<?> ours) throws NoSuchMethodException {
    for (Method method : type.getMethods()) {
      if (Modifier.isAbstract(method.getModifiers())) {
        require(ours, method.getReturnType(), method.getName(), method.getParameterTypes());
        if (Modifier.isAbstract(
            ours.getMethod(method.getName(), method.getParameterTypes()).getModifiers())) {
          throw new NoSuchMethodException(method + " is unknown to this agent");
        }
      }
    }
  }
}
