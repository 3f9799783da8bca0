package io.coordl.dl4j;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** Fields of the library's and the program's objects. */
final class Members {
  private Members() {}

  /**
   * All fields of an object of that class, inherited ones first, accessible.
   *
   * @throws RuntimeException if a module keeps them closed
   */
  static List<Field> of(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    Class<?> above = type.getSuperclass();
    if (above != null) {
      fields.addAll(of(above));
    }
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        field.setAccessible(true);
        fields.add(field);
      }
    }
    return fields;
  }

  /** Makes {@code copy} share all that {@code original}, of the same class, has. */
  static void copy(Object original, Object copy) throws IllegalAccessException {
    for (Field field : of(original.getClass())) {
      field.set(copy, field.get(original));
    }
  }
}
