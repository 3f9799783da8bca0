package io.coordl.pipeline;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A field of the library or of the program, made accessible. Fields of the library are looked up
 * once per loader, so that an incompatible library is detected before a field is used, not while
 * the program trains.
 */
public record LibraryField<T>(Field field, Class<T> type) {
  public static LibraryField<Object> of(Class<?> owner, String name) throws NoSuchFieldException {
    return new LibraryField<>(Symbols.field(owner, name), Object.class);
  }

  /** Finds a field of exactly this type, which must not be primitive. */
  public static <T> LibraryField<T> of(Class<?> owner, String name, Class<T> type)
      throws NoSuchFieldException {
    return new LibraryField<>(Symbols.field(owner, name, type), type);
  }

  public @Nullable T get(Object object) {
    try {
      return type.cast(field.get(object));
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // Cannot happen: the field was made accessible.
    }
  }

  /** Returns the field's value, which must not be null. */
  public T require(Object object) {
    return Objects.requireNonNull(get(object), field.getName());
  }

  public void set(Object object, @Nullable T value) {
    try {
      field.set(object, value);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // Cannot happen: the field was made accessible.
    }
  }

  /** Returns the value of a primitive field as 64 bits; floats and doubles as their raw bits. */
  static long bits(Field field, Object object) throws IllegalAccessException {
    Class<?> type = field.getType();
    if (type == double.class) {
      return Double.doubleToRawLongBits(field.getDouble(object));
    } else if (type == float.class) {
      return Float.floatToRawIntBits(field.getFloat(object));
    } else if (type == boolean.class) {
      return field.getBoolean(object) ? 1 : 0;
    }
    return field.getLong(object);
  }

  /** Returns the value of a primitive field as 64 bits. */
  public long bits(Object object) {
    try {
      return bits(field, object);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // Cannot happen: the field was made accessible.
    }
  }

  /** Returns the boxed value of a primitive type that has these bits. */
  public static Object ofBits(Class<?> primitive, long bits) {
    return switch (primitive.getName()) {
      case "double" -> Double.longBitsToDouble(bits);
      case "float" -> Float.intBitsToFloat((int) bits);
      case "boolean" -> bits != 0;
      case "char" -> (char) bits;
      case "long" -> bits;
      case "int" -> (int) bits;
      case "short" -> (short) bits;
      default -> (byte) bits;
    };
  }

  /** Sets the field to a value returned by {@link #bits}. */
  public void setBits(Object object, long bits) {
    set(object, type.cast(ofBits(field.getType(), bits)));
  }

  /** Returns the instance fields of a class and of its superclasses below {@code end}. */
  public static List<LibraryField<Object>> all(
      Class<?> type, Class<?> end, Predicate<Field> which) {
    List<LibraryField<Object>> all = new ArrayList<>();
    for (Class<?> at = type; at != null && at != end; at = at.getSuperclass()) {
      for (Field field : at.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && which.test(field)) {
          field.setAccessible(true);
          all.add(new LibraryField<>(field, Object.class));
        }
      }
    }
    return all;
  }

  /** Copies all field values of {@code original} to {@code copy}, an object of the same class. */
  public static void copyAll(Object original, Object copy) {
    for (LibraryField<Object> field : all(original.getClass(), Object.class, any -> true)) {
      field.set(copy, field.get(original));
    }
  }
}
