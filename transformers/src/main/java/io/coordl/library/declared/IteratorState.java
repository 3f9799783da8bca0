package io.coordl.library.declared;

import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.ObjectFields;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state that an iterator's next batch depends on, at one moment: its fields and the arguments
 * of the call. Refers to the objects in the fields weakly. Immutable.
 *
 * @param numbers values of the primitive fields, as bits
 * @param arguments the arguments of the call
 */
record IteratorState(Settings settings, List<Long> numbers, List<Object> arguments) {
  /**
   * The part of the state that does not change from batch to batch.
   *
   * @param objects the objects in the fields
   * @param contents copies of arrays and lists that the program may change; null for other fields
   * @param defaults settings of the JDK
   */
  record Settings(
      List<@Nullable WeakReference<Object>> objects,
      List<@Nullable Contents> contents,
      List<Object> defaults) {
    boolean isSame(Settings other) {
      if (objects.size() != other.objects.size() || !defaults.equals(other.defaults)) {
        return false;
      }
      for (int i = 0; i < objects.size(); i++) {
        WeakReference<Object> one = objects.get(i);
        WeakReference<Object> two = other.objects.get(i);
        Object object = two == null ? null : two.get();
        if (one == null ? two != null : object == null || !one.refersTo(object)) {
          return false;
        }
        Contents content = contents.get(i);
        Contents second = other.contents.get(i);
        if (content != second
            && (content == null || second == null || !content.isOf(second.copy()))) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * Records the state of an iterator; returns null if a field's contents cannot be copied.
   *
   * @param copied indices of the fields whose contents are copied
   * @param before an earlier state, whose copies are reused if still equal; null if none
   */
  static @Nullable IteratorState of(
      Object iterator,
      ObjectFields fields,
      List<Integer> copied,
      List<Object> arguments,
      @Nullable IteratorState before) {
    @Nullable Object[] objects = fields.references(iterator);
    List<@Nullable WeakReference<Object>> weak = new ArrayList<>(objects.length);
    List<@Nullable Contents> contents = new ArrayList<>(objects.length);
    for (int i = 0; i < objects.length; i++) {
      Object object = objects[i];
      weak.add(object == null ? null : new WeakReference<>(object));
      Contents now = null;
      if (object != null && copied.contains(i)) {
        for (int same = 0; same < i && now == null; same++) {
          now = objects[same] == object ? contents.get(same) : null;
        }
        if (now == null) {
          Contents then = before == null ? null : before.settings.contents.get(i);
          now = then != null && then.isOf(object) ? then : Contents.of(object);
        }
        if (now == null) {
          return null;
        }
      }
      contents.add(now);
    }
    return new IteratorState(
        new Settings(weak, contents, LibraryEpoch.defaults()), fields.numbers(iterator), arguments);
  }

  /** Creates an iterator in this state; returns null if an object in its fields is gone. */
  @Nullable Object twin(Twins twins) {
    @Nullable Object[] references = references();
    return references == null ? null : twins.twin(numbers, references);
  }

  /** Returns the references for the fields of a {@link #twin}; null if one is gone. */
  @Nullable Object @Nullable [] references() {
    @Nullable Object[] references = new @Nullable Object[settings.objects.size()];
    for (int i = 0; i < references.length; i++) {
      WeakReference<Object> weak = settings.objects.get(i);
      Contents copy = settings.contents.get(i);
      if (weak != null) {
        references[i] = copy == null ? weak.get() : copy.copy();
        if (references[i] == null) {
          return null;
        }
      }
    }
    return references;
  }

  /**
   * Returns a string that is unique among states with the same settings. Includes the type and
   * length of each argument, because a string may contain anything.
   */
  String name() {
    StringBuilder name = new StringBuilder(numbers.toString());
    for (@Nullable Object argument : arguments) {
      String text = argument instanceof Enum<?> one ? one.name() : String.valueOf(argument);
      name.append(' ').append(argument == null ? "" : argument.getClass().getName());
      name.append(' ').append(text.length()).append(' ').append(text);
    }
    return name.toString();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof IteratorState that
        && settings.isSame(that.settings)
        && numbers.equals(that.numbers)
        && arguments.equals(that.arguments);
  }

  @Override
  public int hashCode() {
    return Objects.hash(numbers, arguments);
  }
}
