package io.coordl.library.declared;

import io.coordl.pipeline.ObjectFields;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates <i>twins</i> of a program class: objects with the field values of another object. The
 * agent calls {@code next} on a twin, so the program's object does not change.
 */
final class Twins {
  private final ObjectFields fields;
  private final Constructor<?> constructor;
  private final @Nullable Method hasNext;

  private Twins(Class<?> type, Constructor<?> constructor) {
    this.hasNext = hasNext(type);
    this.fields = new ObjectFields(type, any -> true);
    this.constructor = constructor;
  }

  /**
   * Returns a factory for twins of a class; null if its objects cannot be copied, as for records,
   * enums, lambdas, and classes of a module that is not open.
   */
  static @Nullable Twins of(Class<?> type) {
    if (type.isHidden() || type.isRecord() || type.isEnum()) {
      return null;
    }
    try {
      // Creates objects without running a constructor of their class. Looked up by name, because a
      // runtime image may lack the module.
      Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
      Object reflection = factory.getMethod("getReflectionFactory").invoke(null);
      Method ofSerialization =
          factory.getMethod("newConstructorForSerialization", Class.class, Constructor.class);
      Constructor<?> plain = Object.class.getDeclaredConstructor();
      Object constructor = ofSerialization.invoke(reflection, type, plain);
      return constructor == null ? null : new Twins(type, (Constructor<?>) constructor);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  private static @Nullable Method hasNext(Class<?> type) {
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      for (Method method : at.getDeclaredMethods()) {
        if (method.getName().equals("hasNext")
            && method.getParameterCount() == 0
            && method.getReturnType() == boolean.class
            && !Modifier.isStatic(method.getModifiers())) {
          return method.trySetAccessible() ? method : null;
        }
      }
    }
    return null;
  }

  ObjectFields fields() {
    return fields;
  }

  /** Whether a twin has another batch; true if {@code hasNext()} is missing or inaccessible. */
  boolean hasNext(Object twin) throws ReflectiveOperationException {
    return hasNext == null || !Boolean.FALSE.equals(hasNext.invoke(twin));
  }

  /** Creates an object with these field values. */
  Object twin(List<Long> values, @Nullable Object[] references) {
    Object twin;
    try {
      twin = constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    fields.setAll(twin, values, references);
    return twin;
  }
}
