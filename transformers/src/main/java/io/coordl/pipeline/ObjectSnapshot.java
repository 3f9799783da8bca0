package io.coordl.pipeline;

import io.coordl.purity.JdkObjects;
import java.lang.ref.SoftReference;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.LongBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All that an object refers to, as it was: the same objects, in the same places, with the same
 * numbers in them. Tells quickly that nothing has changed, of objects that refer to values of the
 * JDK, to collections and to objects of their kind. Refers to them softly.
 */
public final class ObjectSnapshot {
  private static final int MOST = 1_000_000;

  /** What a class declares for each of its objects: each time it is asked, it makes them anew. */
  private static final ClassValue<Field[]> FIELDS =
      new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> type) {
          Field[] fields =
              Arrays.stream(type.getDeclaredFields())
                  .filter(field -> !Modifier.isStatic(field.getModifiers()))
                  .toArray(Field[]::new);
          AccessibleObject.setAccessible(fields, true);
          return fields;
        }
      };

  private final Predicate<Class<?>> counts;
  private final @Nullable SoftReference<Found> found;

  /** {@code counts} tells whether the fields that a class declares are looked at. */
  public ObjectSnapshot(Object root, Predicate<Class<?>> counts) {
    this.counts = counts;
    Found now = Found.of(root, counts);
    this.found = now == null ? null : new SoftReference<>(now);
  }

  /**
   * The classes of an object and of all that it refers to, but for those of the JDK.
   *
   * @param counts as for a snapshot
   * @return null if that cannot be told
   */
  public static @Nullable Set<Class<?>> classes(Object root, Predicate<Class<?>> counts) {
    Found found = Found.of(root, counts);
    if (found == null) {
      return null;
    }
    Set<Class<?>> classes = new HashSet<>();
    for (Object object : found.objects) {
      if (object != null
          && !object.getClass().isArray()
          && !JdkObjects.isOfJdk(object.getClass())) {
        classes.add(object.getClass());
      }
    }
    return classes;
  }

  /** Whether {@code root} is as it was; false where that cannot be told. */
  public boolean isOf(Object root) {
    Found then = found == null ? null : found.get();
    if (then == null) {
      return false;
    }
    Found now = Found.of(root, counts);
    return now != null && now.isSame(then);
  }

  /**
   * In the order of a walk.
   *
   * @param objects what was met
   * @param numbers what primitive fields and arrays hold, and how long containers are
   */
  private record Found(List<@Nullable Object> objects, LongBuffer numbers) {
    static @Nullable Found of(Object root, Predicate<Class<?>> counts) {
      try {
        return new Walk(counts).from(root);
      } catch (IllegalAccessException | RuntimeException e) {
        return null;
      }
    }

    boolean isSame(Found other) {
      if (!numbers.equals(other.numbers) || objects.size() != other.objects.size()) {
        return false;
      }
      for (int i = 0; i < objects.size(); i++) {
        if (objects.get(i) != other.objects.get(i)) {
          return false;
        }
      }
      return true;
    }
  }

  private static final class Walk {
    private final List<@Nullable Object> objects = new ArrayList<>();
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> open = new ArrayDeque<>();
    private long[] numbers = new long[64];
    private int count;
    private final Predicate<Class<?>> counts;

    Walk(Predicate<Class<?>> counts) {
      this.counts = counts;
    }

    @Nullable Found from(Object root) throws IllegalAccessException {
      meet(root);
      Object next;
      while ((next = open.poll()) != null) {
        if (objects.size() > MOST) {
          return null;
        }
        visit(next);
      }
      return new Found(objects, LongBuffer.wrap(numbers, 0, count));
    }

    private void meet(@Nullable Object object) {
      objects.add(object);
      if (object != null && !isValue(object) && seen.add(object)) {
        open.add(object);
      }
    }

    /** What cannot change, or is not looked into: then it is the same if it is the same object. */
    private static boolean isValue(Object object) {
      Class<?> type = object.getClass();
      return !type.isArray()
          && JdkObjects.isOfJdk(type)
          && !(object instanceof Collection<?>
              || object instanceof Map<?, ?>
              || object instanceof Optional<?>);
    }

    private void note(long number) {
      if (count == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * count);
      }
      numbers[count++] = number;
    }

    private void visit(Object object) throws IllegalAccessException {
      Class<?> type = object.getClass();
      if (object instanceof Object[] array) {
        note(array.length);
        for (Object element : array) {
          meet(element);
        }
      } else if (type.isArray()) {
        noteArray(object);
      } else if (!JdkObjects.isOfJdk(type)) {
        for (Class<?> at = type; at != null && !JdkObjects.isOfJdk(at); at = at.getSuperclass()) {
          if (counts.test(at)) {
            for (Field field : FIELDS.get(at)) {
              visit(field, object);
            }
          }
        }
      } else if (object instanceof Collection<?> elements) {
        note(elements.size());
        elements.forEach(this::meet);
      } else if (object instanceof Map<?, ?> map) {
        note(map.size());
        map.forEach(
            (key, value) -> {
              meet(key);
              meet(value);
            });
      } else if (object instanceof Optional<?> optional) {
        meet(optional.orElse(null));
      }
    }

    private void visit(Field field, Object object) throws IllegalAccessException {
      if (field.getType().isPrimitive()) {
        note(LibraryField.bits(field, object));
      } else {
        meet(field.get(object));
      }
    }

    /** 64 bits of its content: a copy would take as much again. */
    private void noteArray(Object array) {
      note(Array.getLength(array));
      long hash = 0;
      if (array instanceof byte[] bytes) {
        for (byte value : bytes) {
          hash = mix(hash, value);
        }
      } else if (array instanceof int[] ints) {
        for (int value : ints) {
          hash = mix(hash, value);
        }
      } else if (array instanceof float[] floats) {
        for (float value : floats) {
          hash = mix(hash, Float.floatToRawIntBits(value));
        }
      } else if (array instanceof long[] longs) {
        for (long value : longs) {
          hash = mix(hash, value);
        }
      } else if (array instanceof double[] doubles) {
        for (double value : doubles) {
          hash = mix(hash, Double.doubleToRawLongBits(value));
        }
      } else {
        for (int i = 0; i < Array.getLength(array); i++) {
          hash = mix(hash, Array.get(array, i).hashCode());
        }
      }
      note(hash);
    }

    private static long mix(long hash, long value) {
      long mixed = (hash ^ value) * 0x9E3779B97F4A7C15L;
      return mixed ^ mixed >>> 32;
    }
  }
}
