package io.coordl.pipeline;

import io.coordl.purity.JdkObjects;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.LongBuffer;
import java.nio.file.Path;
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
 * A snapshot of everything that an object refers to, directly or indirectly: the objects in the
 * order of a walk, and the numbers in them. Quickly detects changes to objects that refer to JDK
 * values, to collections and to other objects of the program. Holds strong references only to JDK
 * values such as strings and numbers, and only while memory suffices.
 */
public final class ObjectSnapshot {
  private static final int MAX_OBJECTS = 1_000_000;

  /**
   * The instance fields that a class declares, cached because reflection copies them on each call.
   */
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
  private final @Nullable SoftReference<Recorded> found;

  /** {@code counts} tests whether to include the fields that a class declares. */
  public ObjectSnapshot(Object root, Predicate<Class<?>> counts) {
    this.counts = counts;
    Found now = Found.of(root, counts);
    this.found = now == null ? null : new SoftReference<>(Recorded.of(now));
  }

  /**
   * Returns the classes of an object and of everything it refers to, except arrays and JDK classes.
   *
   * @param counts as for a snapshot
   * @return null if they cannot be determined
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

  /** Returns the instances of {@code type} that an object refers to; null if unknown. */
  public static <T> @Nullable List<T> reachable(
      Object root, Predicate<Class<?>> counts, Class<T> type) {
    Found found = Found.of(root, counts);
    return found == null
        ? null
        : found.objects.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** True if {@code root} is unchanged; false if it may have changed. */
  public boolean isOf(Object root) {
    Recorded then = found == null ? null : found.get();
    if (then == null) {
      return false;
    }
    Found now = Found.of(root, counts);
    return now != null && then.isSame(now);
  }

  /**
   * The result of a walk, in the order of the walk.
   *
   * @param objects the objects found
   * @param numbers values of primitive fields and arrays, and sizes of containers
   */
  private record Found(List<@Nullable Object> objects, LongBuffer numbers) {
    static @Nullable Found of(Object root, Predicate<Class<?>> counts) {
      try {
        return new Walk(counts).from(root);
      } catch (IllegalAccessException | RuntimeException e) {
        return null;
      }
    }
  }

  /** Refers to a visited object. A separate class, because programs have weak references too. */
  private static final class WeakObject extends WeakReference<Object> {
    WeakObject(Object object) {
      super(object);
    }
  }

  /**
   * The objects found; they may have been garbage-collected by now.
   *
   * @param objects those that cannot refer to others; a {@link WeakObject} for each of the rest
   */
  private record Recorded(List<@Nullable Object> objects, LongBuffer numbers) {
    static Recorded of(Found found) {
      IdentityHashMap<Object, WeakObject> met = new IdentityHashMap<>();
      List<@Nullable Object> objects = new ArrayList<>(found.objects.size());
      for (Object object : found.objects) {
        objects.add(
            object == null || isLeaf(object)
                ? object
                : met.computeIfAbsent(object, WeakObject::new));
      }
      return new Recorded(objects, found.numbers);
    }

    private static boolean isLeaf(Object object) {
      return object instanceof String
          || object instanceof Boolean
          || object instanceof Character
          || ((object instanceof Number || object instanceof Path)
              && JdkObjects.isOfJdk(object.getClass())
              && !object.getClass().getName().startsWith("java.util.concurrent."));
    }

    boolean isSame(Found now) {
      if (!numbers.equals(now.numbers) || objects.size() != now.objects.size()) {
        return false;
      }
      for (int i = 0; i < objects.size(); i++) {
        Object then = objects.get(i);
        Object object = now.objects.get(i);
        if (then instanceof WeakObject met
            ? object == null || !met.refersTo(object)
            : then != object) {
          return false;
        }
      }
      return true;
    }
  }

  private static final class Walk {
    private final List<@Nullable Object> objects = new ArrayList<>();
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> unvisited = new ArrayDeque<>();
    private long[] numbers = new long[64];
    private int count;
    private final Predicate<Class<?>> counts;

    Walk(Predicate<Class<?>> counts) {
      this.counts = counts;
    }

    @Nullable Found from(Object root) throws IllegalAccessException {
      meet(root);
      Object next;
      while ((next = unvisited.poll()) != null) {
        if (objects.size() > MAX_OBJECTS) {
          return null;
        }
        visit(next);
      }
      return new Found(objects, LongBuffer.wrap(numbers, 0, count));
    }

    private void meet(@Nullable Object object) {
      objects.add(object);
      if (object != null && !isValue(object) && seen.add(object)) {
        unvisited.add(object);
      }
    }

    /**
     * Whether an object is not examined further, because it cannot change or is compared only by
     * identity.
     */
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

    /** Records a checksum of the content, because a copy would double the memory. */
    private void noteArray(Object array) {
      note(Array.getLength(array));
      for (long half : Checksum.ofArray(array)) {
        note(half);
      }
    }
  }
}
