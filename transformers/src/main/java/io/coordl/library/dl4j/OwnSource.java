package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.Checksum;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.ObjectFields;
import io.coordl.pipeline.ObjectSnapshot;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
   * @param queues which of them are queues
   * @param ofLibrary the preprocessors and the objects that refer to library objects, whose
   *     contents are compared
   */
  private record Settings(
      List<Object> surroundings,
      List<@Nullable WeakReference<Object>> objects,
      List<Boolean> queues,
      List<Preprocessor> ofLibrary) {}

  private static final int MAX_QUEUE = 1 << 16;

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

  /**
   * Where the source is in its data.
   *
   * @param numbers the values of its primitive fields, as bits
   * @param queues the queues in its fields, each once
   */
  record Place(List<Long> numbers, List<Elements> queues) {
    /** Equal texts mean equal places, except that queues are represented by checksums. */
    String text() {
      StringBuilder text = new StringBuilder().append(numbers);
      queues.forEach(queue -> text.append(queue.text()));
      return text.toString();
    }

    /**
     * Returns what a call has changed, for {@link OwnSource#move}; null if it has done more to the
     * queues than to take elements from their heads.
     */
    @Nullable String changesSince(Place before) {
      if (queues.size() != before.queues.size()) {
        return null;
      }
      List<Long> changes = new ArrayList<>(numbers);
      for (int i = 0; i < queues.size(); i++) {
        int taken = queues.get(i).takenSince(before.queues.get(i));
        if (taken < 0) {
          return null;
        }
        changes.add((long) taken);
      }
      return changes.toString();
    }
  }

  /** The elements of a queue at one moment. */
  static final class Elements {
    private final Deque<?> queue;

    /** Their class, the same for all; null if there are none. */
    private final @Nullable Class<?> type;

    private final long[] values;

    private Elements(Deque<?> queue, @Nullable Class<?> type, long[] values) {
      this.queue = queue;
      this.type = type;
      this.values = values;
    }

    /** Returns the elements of a queue of numbers; null if it is no such queue, or too long. */
    static @Nullable Elements of(@Nullable Object object) {
      if (!(object instanceof Deque<?> queue)
          || (queue.getClass() != LinkedList.class && queue.getClass() != ArrayDeque.class)
          || queue.size() > MAX_QUEUE) {
        return null;
      }
      long[] values = new long[queue.size()];
      Class<?> type = null;
      int count = 0;
      for (Object one : queue) {
        if (type == null && (one instanceof Integer || one instanceof Long)) {
          type = one.getClass();
        }
        if (one == null || one.getClass() != type) {
          return null;
        }
        values[count++] = ((Number) one).longValue();
      }
      return new Elements(queue, type, values);
    }

    private String text() {
      long one = values.length;
      long other = ~one;
      for (long value : values) {
        one = Checksum.mix(one, value);
        other = Checksum.mix(other, ~value);
      }
      return " queue of " + values.length + " " + type + " " + one + " " + other;
    }

    /** Returns how many elements were taken from the head; negative if there are other changes. */
    private int takenSince(Elements before) {
      int taken = before.values.length - values.length;
      return taken >= 0
              && (type == null || type == before.type)
              && Arrays.equals(before.values, taken, before.values.length, values, 0, values.length)
          ? taken
          : -1;
    }
  }

  /** Whether this is a queue of numbers that is short enough to be compared before each call. */
  static boolean isQueue(@Nullable Object object) {
    return Elements.of(object) != null;
  }

  Place place() {
    List<Elements> elements = new ArrayList<>();
    Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Object object : objects()) {
      Elements queue = Elements.of(object);
      if (queue != null && found.add(object)) {
        elements.add(queue);
      }
    }
    return new Place(fields().numbers(get), elements);
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
   * Makes the changes of the program's own call: sets the primitive fields that it would have
   * changed, and no others, because another thread may set those at the same time; and takes from
   * the queues what it would have taken.
   *
   * @param before the place before the call
   * @param changes text that {@link Place#changesSince} returned
   */
  void move(Place before, String changes) {
    List<Long> values =
        Stream.of(changes.substring(1, changes.length() - 1).split(", ", -1))
            .filter(one -> !one.isEmpty())
            .map(Long::valueOf)
            .toList();
    int numbers = before.numbers.size();
    fields().setNumbers(get, before.numbers, values.subList(0, numbers));
    for (int i = 0; i < before.queues.size(); i++) {
      for (long left = values.get(numbers + i); left > 0; left--) {
        before.queues.get(i).queue.removeFirst();
      }
    }
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
    return new Settings(Surroundings.settings(), weak, areQueues(objects), ofLibrary);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Settings then = (Settings) settings;
    List<@Nullable Object> now = objects();
    return IntStream.range(0, now.size()).allMatch(i -> isOf(then.objects.get(i), now.get(i)))
        && then.queues.equals(areQueues(now))
        && then.surroundings.equals(Surroundings.settings())
        && then.ofLibrary.stream().allMatch(OwnSource::isUnchanged);
  }

  private static List<Boolean> areQueues(List<@Nullable Object> objects) {
    return objects.stream().map(OwnSource::isQueue).toList();
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
