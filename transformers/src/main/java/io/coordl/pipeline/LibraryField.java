package io.coordl.pipeline;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A field that the library keeps to itself. Looked up once per loader: a library that does not fit
 * must be found before the field is used, not while the program trains.
 */
public record LibraryField<T>(Field field, Class<T> type) {
  /** A field of any type. */
  public static LibraryField<Object> of(Class<?> owner, String name) throws NoSuchFieldException {
    return new LibraryField<>(Symbols.field(owner, name), Object.class);
  }

  /** A field of this very type, which is no primitive one. */
  public static <T> LibraryField<T> of(Class<?> owner, String name, Class<T> type)
      throws NoSuchFieldException {
    return new LibraryField<>(Symbols.field(owner, name, type), type);
  }

  public @Nullable T get(Object object) {
    try {
      return type.cast(field.get(object));
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // It was made accessible.
    }
  }

  /** What it holds, which must be something. */
  public T require(Object object) {
    return Objects.requireNonNull(get(object), field.getName());
  }

  /** Makes it hold that. */
  public void set(Object object, @Nullable T value) {
    try {
      field.set(object, value);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // It was made accessible.
    }
  }

  /** Makes {@code copy} share all that {@code original}, of the same class, has. */
  public static void copyAll(Object original, Object copy) throws IllegalAccessException {
    for (Class<?> type = original.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())) {
          field.setAccessible(true);
          field.set(copy, field.get(original));
        }
      }
    }
  }
}
