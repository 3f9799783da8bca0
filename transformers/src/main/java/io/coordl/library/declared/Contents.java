package io.coordl.library.declared;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A shallow copy of an array or list of the program. Only the agent, and program code that the
 * agent runs, refer to it. Immutable, because that code is proven to change nothing.
 */
final class Contents {
  private final Object copy;

  private Contents(Object copy) {
    this.copy = copy;
  }

  /** Copies an array or a list; returns null for unsupported classes. */
  static @Nullable Contents of(Object container) {
    Object copy = null;
    if (container.getClass().isArray()) {
      int length = Array.getLength(container);
      copy = Array.newInstance(container.getClass().getComponentType(), length);
      System.arraycopy(container, 0, copy, 0, length);
    } else if (container.getClass() == ArrayList.class) {
      copy = new ArrayList<>((ArrayList<?>) container);
    } else if (container.getClass() == Arrays.asList().getClass()) {
      copy = Arrays.asList(((List<?>) container).toArray());
    }
    return copy == null ? null : new Contents(copy);
  }

  /** Returns the copy. */
  Object copy() {
    return copy;
  }

  /** True if a container has the same class and the same elements. */
  boolean isOf(@Nullable Object container) {
    if (container == null || container.getClass() != copy.getClass()) {
      return false;
    } else if (copy instanceof Object[] array) {
      return areSame(array, (Object[]) container);
    } else if (copy instanceof List<?> list) {
      return areSame(list.toArray(), ((List<?>) container).toArray());
    }
    return ElementType.of(copy.getClass().getComponentType()).areSame(copy, container);
  }

  private static boolean areSame(@Nullable Object[] one, @Nullable Object[] two) {
    if (one.length != two.length) {
      return false;
    }
    for (int i = 0; i < one.length; i++) {
      if (one[i] != two[i]) {
        return false;
      }
    }
    return true;
  }
}
