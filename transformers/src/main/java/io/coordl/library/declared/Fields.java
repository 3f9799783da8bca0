package io.coordl.library.declared;

import io.coordl.pipeline.LibraryField;
import io.coordl.purity.Member;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of a program class and creates <i>twins</i>: objects with the field values of
 * another object. The agent calls {@code next} on a twin, so the program's object does not change.
 */
final class Fields {
  private final List<LibraryField<Object>> numbers;
  private final List<LibraryField<Object>> objects;
  private final Constructor<?> constructor;
  private final @Nullable Method hasNext;

  private Fields(Class<?> type, Constructor<?> constructor) {
    this.hasNext = hasNext(type);
    this.numbers = LibraryField.all(type, Object.class, it -> it.getType().isPrimitive());
    this.objects = LibraryField.all(type, Object.class, it -> !it.getType().isPrimitive());
    this.constructor = constructor;
  }

  /**
   * Returns the fields of a class; null if its objects cannot be copied, such as records, lambdas,
   * and objects of a module that is not open.
   */
  static @Nullable Fields of(Class<?> type) {
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
      return constructor == null ? null : new Fields(type, (Constructor<?>) constructor);
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

  /** Whether a twin has another batch; true if its class has no {@code hasNext()}. */
  boolean hasNext(Object twin) throws ReflectiveOperationException {
    return hasNext == null || !Boolean.FALSE.equals(hasNext.invoke(twin));
  }

  /** Returns the values of the primitive fields, as bits. */
  List<Long> numbers(Object of) {
    List<Long> values = new ArrayList<>(numbers.size());
    for (LibraryField<Object> field : numbers) {
      values.add(field.bits(of));
    }
    return values;
  }

  /** Returns the values of the other fields. */
  @Nullable Object[] objects(Object of) {
    @Nullable Object[] values = new @Nullable Object[objects.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = objects.get(i).get(of);
    }
    return values;
  }

  /** Returns the indices of these fields in {@link #objects}. */
  List<Integer> positions(Set<Member> fields) {
    List<Integer> positions = new ArrayList<>();
    for (int i = 0; i < objects.size(); i++) {
      if (fields.contains(Member.of(objects.get(i).field()))) {
        positions.add(i);
      }
    }
    return positions;
  }

  /** Sets the primitive fields that are not final. */
  void setNumbers(Object of, List<Long> values) {
    for (int i = 0; i < values.size(); i++) {
      LibraryField<Object> field = numbers.get(i);
      if (!Modifier.isFinal(field.field().getModifiers())) {
        field.setBits(of, values.get(i));
      }
    }
  }

  /** Creates an object with these field values. */
  Object twin(List<Long> values, @Nullable Object[] references) {
    Object twin;
    try {
      twin = constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    for (int i = 0; i < values.size(); i++) {
      numbers.get(i).setBits(twin, values.get(i));
    }
    for (int i = 0; i < references.length; i++) {
      objects.get(i).set(twin, references[i]);
    }
    return twin;
  }
}
