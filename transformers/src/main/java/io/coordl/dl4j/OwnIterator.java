package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.ObjectSnapshot;
import io.coordl.pipeline.SamplePipeline;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;

/** An iterator of a class of the program's, all of it: whose samples are whole batches. */
record OwnIterator(Iterator<?> get) implements SamplePipeline {
  /**
   * What the program can change at any time.
   *
   * @param objects in the iterator's fields, which may refer to it
   * @param ofLibrary those that have something of the library, which is compared
   */
  private record Settings(
      List<Object> told,
      List<@Nullable WeakReference<Object>> objects,
      List<StagedIterator.Preprocessor> ofLibrary) {}

  /** Of each class, as the others are: these are few. */
  private static final ClassValue<List<Field>> FIELDS =
      new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
          return LibraryField.all(type, Object.class, any -> true).stream()
              .map(LibraryField::field)
              .toList();
        }
      };

  /** Whether all that such an object has is declared by iterators of the program, open to us. */
  static boolean isOwn(Class<?> type) {
    for (Class<?> at = type; at != Object.class; at = at.getSuperclass()) {
      if (at == null
          || Description.isOfLibrary(at.getName())
          || !isOfBatches(at)
          || !at.getModule().isOpen(at.getPackageName(), OwnIterator.class.getModule())) {
        return false;
      }
    }
    return !type.isHidden();
  }

  /** Whether objects of a class give batches of the library. */
  static boolean isOfBatches(Class<?> type) {
    return DataSetIterator.class.isAssignableFrom(type)
        || MultiDataSetIterator.class.isAssignableFrom(type);
  }

  /** What its fields of primitive types hold. */
  List<Object> numbers() {
    List<Object> numbers = new ArrayList<>();
    for (Field field : FIELDS.get(get.getClass())) {
      if (field.getType().isPrimitive()) {
        numbers.add(exact(value(field)));
      }
    }
    return numbers;
  }

  /** As a number whose text says all of it. */
  private static Object exact(@Nullable Object value) {
    return value instanceof Float number
        ? Float.floatToRawIntBits(number)
        : value instanceof Double number
            ? Double.doubleToRawLongBits(number)
            : value instanceof Character letter
                ? (int) letter
                : value instanceof Boolean flag ? (flag ? 1 : 0) : String.valueOf(value);
  }

  /** What its other fields hold. */
  List<@Nullable Object> objects() {
    List<@Nullable Object> objects = new ArrayList<>();
    for (Field field : FIELDS.get(get.getClass())) {
      if (!field.getType().isPrimitive()) {
        objects.add(value(field));
      }
    }
    return objects;
  }

  /** Whether it has the same objects still. */
  boolean has(List<@Nullable Object> then) {
    List<@Nullable Object> now = objects();
    return IntStream.range(0, now.size()).allMatch(i -> now.get(i) == then.get(i));
  }

  private @Nullable Object value(Field field) {
    try {
      return field.get(get);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sets the numbers, by the text of their list. */
  void set(String numbers) {
    String[] values = numbers.substring(1, numbers.length() - 1).split(", ", -1);
    int next = 0;
    for (Field field : FIELDS.get(get.getClass())) {
      if (field.getType().isPrimitive()) {
        long value = Long.parseLong(values[next++]);
        if (!Modifier.isFinal(field.getModifiers())) {
          set(field, value);
        }
      }
    }
  }

  private void set(Field field, long value) {
    Class<?> type = field.getType();
    try {
      if (type == float.class) {
        field.setFloat(get, Float.intBitsToFloat((int) value));
      } else if (type == double.class) {
        field.setDouble(get, Double.longBitsToDouble(value));
      } else if (type == boolean.class) {
        field.setBoolean(get, value != 0);
      } else if (type == char.class) {
        field.setChar(get, (char) value);
      } else if (type == long.class) {
        field.setLong(get, value);
      } else if (type == int.class) {
        field.setInt(get, (int) value);
      } else if (type == short.class) {
        field.setShort(get, (short) value);
      } else {
        field.setByte(get, (byte) value);
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Object dataset() {
    return get;
  }

  @Override
  public String name() {
    return get.getClass().getName();
  }

  /** Its fields are compared before each batch. */
  @Override
  public boolean isAnnounced() {
    return false;
  }

  /** How many batches it has is not known. */
  @Override
  public long size() {
    return 1;
  }

  @Override
  public Object settings() {
    List<@Nullable Object> objects = objects();
    List<StagedIterator.Preprocessor> ofLibrary = new ArrayList<>();
    for (Object object : objects) {
      if (object instanceof DataSetPreProcessor
          || object instanceof MultiDataSetPreProcessor
          || hasLibrary(object)) {
        ofLibrary.add(StagedIterator.Preprocessor.of(object));
      }
    }
    List<@Nullable WeakReference<Object>> weak = new ArrayList<>();
    objects.forEach(object -> weak.add(object == null ? null : new WeakReference<>(object)));
    return new Settings(StagedIterator.told(), weak, ofLibrary);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Settings then = (Settings) settings;
    List<@Nullable Object> now = objects();
    return IntStream.range(0, now.size()).allMatch(i -> isOf(then.objects.get(i), now.get(i)))
        && then.told.equals(StagedIterator.told())
        && then.ofLibrary.stream().allMatch(OwnIterator::isUnchanged);
  }

  private static boolean isOf(@Nullable WeakReference<Object> then, @Nullable Object now) {
    return then == null ? now == null : now != null && then.refersTo(now);
  }

  private static boolean isUnchanged(StagedIterator.Preprocessor one) {
    Object object = one.object() == null ? null : one.object().get();
    return object != null && one.isOf(object);
  }

  /** None where something is kept whose changes would not be seen. */
  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    return ((Settings) settings).ofLibrary.stream().allMatch(one -> one.text() != null)
        ? List.of(List.of(get))
        : List.of();
  }

  private static boolean hasLibrary(@Nullable Object object) {
    if (object == null) {
      return false;
    }
    Collection<Class<?>> classes = ObjectSnapshot.classes(object, type -> true);
    return classes == null || classes.stream().anyMatch(OwnIterator::isOfLibrary);
  }

  /** What it inherits can be changed as well. */
  private static boolean isOfLibrary(Class<?> type) {
    return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
        .anyMatch(at -> Description.isOfLibrary(at.getName()));
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    return String.join(
        "\n",
        StagedIterator.process(),
        ((Settings) settings).told.toString(),
        Description.ofLargeRead("iterator", get));
  }

  @Override
  public String describe(String name, @Nullable Object value) throws CannotShareException {
    return Description.ofRead(name, value);
  }
}
