package io.coordl.purity;

import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The values, at the time of the analysis, of fields that code outside a pipeline may set, and the
 * contents of arrays and collections that such code may change. A proof that needs them holds only
 * while they stay the same. Refers only weakly to objects of the program other than strings and
 * numbers. Immutable once the analysis ends; any thread may compare.
 */
public final class FieldValues {
  static final FieldValues NONE = new FieldValues(object -> true);

  /** Maximum number of fields and elements to compare, which takes a few milliseconds. */
  private static final int MAX_COMPARED = 1 << 20;

  /**
   * Containers that can be read without running code of the program; of the views, only that of an
   * {@code ArrayList}, which reads the list's array.
   */
  private static final Set<String> READABLE =
      Set.of(
          ("java.util.ArrayList java.util.ArrayList$SubList java.util.LinkedList"
                  + " java.util.Arrays$ArrayList java.util.HashMap java.util.LinkedHashMap"
                  + " java.util.HashSet java.util.LinkedHashSet java.util.TreeMap java.util.TreeSet"
                  + " java.util.ArrayDeque")
              .split(" "));

  /** Dropped when the analysis ends, because it refers to the objects that were found. */
  private Predicate<Object> isAnalysed;

  private final List<Slot> slots = new ArrayList<>();
  private final List<Content> contents = new ArrayList<>();
  private @Nullable List<Locale> locale;
  private int remaining = MAX_COMPARED;

  /** {@code isAnalysed} tests whether an object is immutable or found by the analysis. */
  FieldValues(Predicate<Object> isAnalysed) {
    this.isAnalysed = isAnalysed;
  }

  /** Ends the analysis: from now on, nothing here refers strongly to its objects. */
  FieldValues end() {
    isAnalysed = object -> false;
    return this;
  }

  /** A weak reference, because the program may drop the object. */
  private static final class WeakObject extends WeakReference<Object> {
    WeakObject(Object object) {
      super(object);
    }
  }

  /**
   * A field and its value.
   *
   * @param holder null for a static field
   * @param value a {@link WeakObject} for an object other than a string or number
   */
  private record Slot(@Nullable WeakObject holder, Field field, @Nullable Object value) {
    boolean isSame() throws IllegalAccessException {
      Object object = holder == null ? null : holder.get();
      if (holder != null && object == null) {
        return false;
      }
      Object now = field.get(object);
      return field.getType().isPrimitive()
          ? now != null && bits(now).equals(value)
          : FieldValues.isSame(value, now);
    }
  }

  /**
   * An array or collection and its contents at the time of the analysis.
   *
   * @param elements a copy of a primitive array, or the elements as in a slot
   */
  private record Content(WeakObject container, Object elements) {
    boolean isSame() {
      Object now = container.get();
      if (now == null) {
        return false;
      }
      if (now.getClass() == ArrayList.class) {
        return isSameList((Object[]) elements, (ArrayList<?>) now);
      }
      Object[] held = now.getClass().isArray() && !(now instanceof Object[]) ? null : of(now);
      if (held == null) {
        return Arrays.deepEquals(new Object[] {elements}, new Object[] {now})
            && haveSameBits(elements, now);
      }
      Object[] then = (Object[]) elements;
      if (then.length != held.length) {
        return false;
      }
      for (int i = 0; i < then.length; i++) {
        if (!FieldValues.isSame(then[i], held[i])) {
          return false;
        }
      }
      return true;
    }

    /** Compares without a copy of the list, which may be one of many. */
    private static boolean isSameList(Object[] then, ArrayList<?> now) {
      if (then.length != now.size()) {
        return false;
      }
      for (int i = 0; i < then.length; i++) {
        if (!FieldValues.isSame(then[i], now.get(i))) {
          return false;
        }
      }
      return true;
    }
  }

  private static boolean isSame(@Nullable Object then, @Nullable Object now) {
    // First without looking into the objects, of which there may be many.
    return then == now || (then instanceof WeakObject weak && now != null && weak.refersTo(now));
  }

  /** Returns a primitive value; floats and doubles as bits, so that different NaNs differ. */
  private static Object bits(Object number) {
    return number instanceof Float one
        ? (Object) Float.floatToRawIntBits(one)
        : number instanceof Double one ? (Object) Double.doubleToRawLongBits(one) : number;
  }

  private static boolean haveSameBits(Object then, Object now) {
    if (then instanceof float[] one && now instanceof float[] two) {
      return IntStream.range(0, one.length)
          .allMatch(i -> Float.floatToRawIntBits(one[i]) == Float.floatToRawIntBits(two[i]));
    } else if (then instanceof double[] one && now instanceof double[] two) {
      return IntStream.range(0, one.length)
          .allMatch(i -> Double.doubleToRawLongBits(one[i]) == Double.doubleToRawLongBits(two[i]));
    }
    return true;
  }

  /** Adds the default locale, which {@code String.format} and {@code toLowerCase} use. */
  void addLocale() {
    locale = defaultLocale();
  }

  private static List<Locale> defaultLocale() {
    return List.of(Locale.getDefault(), Locale.getDefault(Locale.Category.FORMAT));
  }

  /**
   * Adds a field of an object, or a static one.
   *
   * @param deep whether the array or collection in it may change, too
   * @return false if comparing it is impossible or too slow
   */
  boolean add(@Nullable Object holder, Field field, boolean deep) throws IllegalAccessException {
    Object value = field.get(holder);
    slots.add(
        new Slot(
            holder == null ? null : new WeakObject(holder),
            field,
            field.getType().isPrimitive() ? bits(value) : held(value)));
    return --remaining >= 0
        && (field.getType().isPrimitive()
            || (isContainer(value)
                ? !deep || addContent(value, 0)
                : value == null || isAnalysed.test(value)));
  }

  private static boolean isContainer(@Nullable Object value) {
    return value != null
        && JdkCode.isContainer(value)
        && (value.getClass().isArray() || JdkObjects.isOfJdk(value.getClass()));
  }

  private boolean addContent(@Nullable Object container, int depth) {
    if (container == null || depth > 20) {
      return container == null;
    }
    Class<?> type = container.getClass();
    if (type.isArray() && !(container instanceof Object[])) {
      int length = Array.getLength(container);
      remaining -= length;
      if (remaining < 0) {
        return false;
      }
      Object copy = Array.newInstance(type.getComponentType(), length);
      System.arraycopy(container, 0, copy, 0, length);
      contents.add(new Content(new WeakObject(container), copy));
      return true;
    } else if (!type.isArray()
        && !READABLE.contains(type.getName())
        && !JdkCode.isFixed(container)) {
      return false;
    }
    remaining -= size(container);
    if (remaining < 0) {
      return false;
    }
    Object[] now = of(container);
    Object[] elements = new Object[now.length];
    contents.add(new Content(new WeakObject(container), elements));
    for (int i = 0; i < now.length; i++) {
      elements[i] = held(now[i]);
      if (isContainer(now[i])
          ? !addContent(now[i], depth + 1)
          : now[i] != null && !isAnalysed.test(now[i])) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable Object held(@Nullable Object value) {
    return value == null
            || value instanceof String
            || (value instanceof Number && JdkCode.isImmutable(value))
        ? value
        : new WeakObject(value);
  }

  private static int size(Object container) {
    return container instanceof Object[] array
        ? array.length
        : container instanceof Map<?, ?> map
            ? 2 * map.size()
            : container instanceof Collection<?> elements ? elements.size() : 1;
  }

  private static Object[] of(Object container) {
    if (container instanceof Object[] array) {
      return array;
    } else if (container instanceof Map<?, ?> map) {
      Object[] all = new Object[2 * map.size()];
      int count = 0;
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        all[count++] = entry.getKey();
        all[count++] = entry.getValue();
      }
      return all;
    }
    return container instanceof Collection<?> elements
        ? elements.toArray()
        : ((Optional<?>) container).stream().toArray();
  }

  /** Whether there is nothing to compare. */
  public boolean isEmpty() {
    return slots.isEmpty() && locale == null;
  }

  /** True if all values are the same as during the analysis; false if they may differ. */
  public boolean areSame() {
    try {
      for (Slot slot : slots) {
        if (!slot.isSame()) {
          return false;
        }
      }
      for (Content content : contents) {
        if (!content.isSame()) {
          return false;
        }
      }
      return locale == null || locale.equals(defaultLocale());
    } catch (IllegalAccessException | RuntimeException e) {
      return false;
    }
  }
}
