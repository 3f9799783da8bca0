package io.coordl.library.declared;

import io.coordl.purity.ClassFiles;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The components of a record class. A record is recreated from them only if its constructor merely
 * sets them; any other constructor might change or copy them, or have side effects.
 */
final class RecordParts {
  private static final ClassValue<RecordParts> KNOWN =
      new ClassValue<>() {
        @Override
        protected RecordParts computeValue(Class<?> type) {
          return new RecordParts(type);
        }
      };

  private final Field[] fields;
  private final @Nullable Constructor<?> constructor;

  private RecordParts(Class<?> type) {
    RecordComponent[] components = type.getRecordComponents();
    fields = new Field[components.length];
    Constructor<?> canonical = null;
    try {
      for (int i = 0; i < components.length; i++) {
        fields[i] = type.getDeclaredField(components[i].getName());
        fields[i].setAccessible(true);
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      if (ClassFiles.onlySetsComponents(type)) {
        canonical = type.getDeclaredConstructor(types);
        canonical.setAccessible(true);
      }
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      canonical = null;
    }
    constructor = canonical;
  }

  static RecordParts of(Class<?> type) {
    return KNOWN.get(type);
  }

  /** Whether a record can be recreated from its components. */
  boolean canBeMade() {
    return constructor != null;
  }

  int count() {
    return fields.length;
  }

  /** Returns the type of a component. */
  Class<?> type(int component) {
    return fields[component].getType();
  }

  @Nullable Object get(Object of, int component) {
    try {
      return fields[component].get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e); // Cannot happen: the field was made accessible.
    }
  }

  Object make(@Nullable Object[] components) {
    Constructor<?> canonical = constructor;
    if (canonical == null) {
      throw new IllegalStateException("the record has another constructor");
    }
    try {
      return canonical.newInstance(components);
    } catch (InvocationTargetException | InstantiationException | IllegalAccessException e) {
      throw new IllegalStateException(e); // Cannot happen: the constructor only sets fields.
    }
  }
}
