package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.ObjectFields;
import io.coordl.pipeline.ObjectSnapshot;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.datavec.api.records.reader.BaseRecordReader;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.api.DataSetPreProcessor;
import org.nd4j.linalg.dataset.api.MultiDataSetPreProcessor;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;

/**
 * An iterator or a reader of the program's own class; its samples are whole batches, or records.
 * The superclasses are the program's too, except {@code BaseRecordReader}, whose fields the proven
 * code does not read.
 */
record OwnSource(Object get) implements LibraryEpoch {
  /**
   * The state that the program can change at any time.
   *
   * @param surroundings global settings
   * @param objects the objects in the source's fields; weak, because they may refer to the source
   * @param ofLibrary the preprocessors and the objects that refer to library objects, whose
   *     contents are compared
   */
  private record Settings(
      List<Object> surroundings,
      List<@Nullable WeakReference<Object>> objects,
      List<Preprocessor> ofLibrary) {}

  private static final ClassValue<ObjectFields> FIELDS =
      new ClassValue<>() {
        @Override
        protected ObjectFields computeValue(Class<?> type) {
          return new ObjectFields(type, field -> isOfProgram(field.getDeclaringClass()));
        }
      };

  private static final ClassValue<Boolean> OWN =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return examine(type);
        }
      };

  /**
   * Whether objects of this class are such sources, all their fields are accessible, and the method
   * that returns a sample is intercepted.
   */
  static boolean isOwn(Class<?> type) {
    return OWN.get(type);
  }

  private static boolean examine(Class<?> type) {
    for (Class<?> at = type; at != Object.class; at = at.getSuperclass()) {
      if (at == BaseRecordReader.class && at != type) {
        return !type.isHidden() && isIntercepted(type);
      } else if (at == null
          || !keepsPlace(at)
          || !at.getModule().isOpen(at.getPackageName(), OwnSource.class.getModule())) {
        return false;
      }
    }
    return !type.isHidden() && (!RecordReader.class.isAssignableFrom(type) || isIntercepted(type));
  }

  /**
   * Whether a reader's method that returns a record is intercepted: the class that declares it must
   * also declare the method by which {@link Dl4j#hooks} recognises a reader.
   */
  private static boolean isIntercepted(Class<?> type) {
    boolean ofSequences = SequenceRecordReader.class.isAssignableFrom(type);
    String method = ofSequences ? "sequenceRecord" : "next";
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      if (declares(at, method)) {
        return declares(at, ofSequences ? "nextSequence" : "nextRecord");
      }
    }
    return false;
  }

  private static boolean declares(Class<?> type, String method) {
    return Stream.of(type.getDeclaredMethods())
        .anyMatch(own -> own.getName().equals(method) && own.getParameterCount() == 0);
  }

  /** Whether this is a class of the program whose objects return batches or records. */
  static boolean keepsPlace(Class<?> type) {
    return isOfProgram(type)
        && (DataSetIterator.class.isAssignableFrom(type)
            || MultiDataSetIterator.class.isAssignableFrom(type)
            || RecordReader.class.isAssignableFrom(type));
  }

  private static boolean isOfProgram(Class<?> type) {
    return !Description.isOfLibrary(type.getName());
  }

  private ObjectFields fields() {
    return FIELDS.get(get.getClass());
  }

  /** Returns the values of its primitive fields, as bits. */
  List<Long> numbers() {
    return fields().numbers(get);
  }

  /** Returns the values of its other fields. */
  List<@Nullable Object> objects() {
    return Arrays.asList(fields().references(get));
  }

  /**
   * Returns the objects that it refers to, directly or through objects of the program, batches and
   * records; null if there are too many.
   */
  @Nullable List<Object> heldObjects() {
    return ObjectSnapshot.reachable(
        get,
        type ->
            isOfProgram(type)
                || type.getName().startsWith("org.nd4j.linalg.dataset.")
                || type.getName().startsWith("org.datavec.api.writable."),
        Object.class);
  }

  /** Whether its fields still refer to these objects. */
  boolean has(List<@Nullable Object> then) {
    List<@Nullable Object> now = objects();
    return IntStream.range(0, now.size()).allMatch(i -> now.get(i) == then.get(i));
  }

  /**
   * Sets the primitive fields that the program's own code would have changed, and no others,
   * because another thread may set those at the same time.
   *
   * @param before the values before the call
   * @param after the values after the call, in the text form of {@link #numbers}
   */
  void set(List<Long> before, String after) {
    Stream<String> values = Stream.of(after.substring(1, after.length() - 1).split(", ", -1));
    fields()
        .setNumbers(get, before, values.filter(one -> !one.isEmpty()).map(Long::valueOf).toList());
  }

  @Override
  public Object dataset() {
    return get;
  }

  /** False: its fields are compared before each batch or record. */
  @Override
  public boolean isAnnounced() {
    return false;
  }

  @Override
  public Object settings() {
    List<@Nullable Object> objects = objects();
    List<Preprocessor> ofLibrary = new ArrayList<>();
    for (Object object : objects) {
      if (object instanceof DataSetPreProcessor
          || object instanceof MultiDataSetPreProcessor
          || hasLibrary(object)) {
        ofLibrary.add(Preprocessor.of(object));
      }
    }
    List<@Nullable WeakReference<Object>> weak = new ArrayList<>();
    objects.forEach(object -> weak.add(object == null ? null : new WeakReference<>(object)));
    return new Settings(Surroundings.settings(), weak, ofLibrary);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Settings then = (Settings) settings;
    List<@Nullable Object> now = objects();
    return IntStream.range(0, now.size()).allMatch(i -> isOf(then.objects.get(i), now.get(i)))
        && then.surroundings.equals(Surroundings.settings())
        && then.ofLibrary.stream().allMatch(OwnSource::isUnchanged);
  }

  private static boolean isOf(@Nullable WeakReference<Object> then, @Nullable Object now) {
    return then == null ? now == null : now != null && then.refersTo(now);
  }

  private static boolean isUnchanged(Preprocessor one) {
    Object object = one.object() == null ? null : one.object().get();
    return object != null && one.isOf(object);
  }

  /** Empty if the source holds something whose changes would go unnoticed. */
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
    return classes == null || classes.stream().anyMatch(OwnSource::isOfLibrary);
  }

  /** Whether a class is a library class, or inherits fields from one, which can change too. */
  private static boolean isOfLibrary(Class<?> type) {
    return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
        .anyMatch(at -> Description.isOfLibrary(at.getName()));
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    return String.join(
        "\n",
        Surroundings.process(),
        ((Settings) settings).surroundings.toString(),
        Description.ofLargeCodeInput("data source", get));
  }

  @Override
  public String describe(String name, @Nullable Object value) throws CannotShareException {
    return Description.ofCodeInput(name, value);
  }
}
