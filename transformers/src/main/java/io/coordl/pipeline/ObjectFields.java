package io.coordl.pipeline;

import io.coordl.purity.Member;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads and sets the fields of a class of the program and of its superclasses: the primitive fields
 * as numbers, the others as references.
 */
public final class ObjectFields {
  private final List<LibraryField<Object>> numbers;
  private final List<LibraryField<Object>> references;

  /**
   * Looks up the fields that {@code which} accepts.
   *
   * @throws RuntimeException if one cannot be made accessible
   */
  public ObjectFields(Class<?> type, Predicate<Field> which) {
    Predicate<Field> isNumber = field -> field.getType().isPrimitive();
    this.numbers = LibraryField.all(type, Object.class, which.and(isNumber));
    this.references = LibraryField.all(type, Object.class, which.and(isNumber.negate()));
  }

  /** Returns the values of the primitive fields, as {@link LibraryField#bits} returns them. */
  public List<Long> numbers(Object object) {
    List<Long> values = new ArrayList<>(numbers.size());
    for (LibraryField<Object> field : numbers) {
      values.add(field.bits(object));
    }
    return values;
  }

  /** Returns the values of the other fields. */
  public @Nullable Object[] references(Object object) {
    @Nullable Object[] values = new @Nullable Object[references.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = references.get(i).get(object);
    }
    return values;
  }

  /** Returns the indices of these fields in {@link #references}. */
  public List<Integer> positions(Set<Member> fields) {
    List<Integer> positions = new ArrayList<>();
    for (int i = 0; i < references.size(); i++) {
      if (fields.contains(Member.of(references.get(i).field()))) {
        positions.add(i);
      }
    }
    return positions;
  }

  /** Sets the primitive fields whose values differ from {@code before}, except final ones. */
  public void setNumbers(Object object, List<Long> before, List<Long> values) {
    for (int i = 0; i < values.size(); i++) {
      LibraryField<Object> field = numbers.get(i);
      if (!values.get(i).equals(before.get(i)) && !Modifier.isFinal(field.field().getModifiers())) {
        field.setBits(object, values.get(i));
      }
    }
  }

  /** Sets all fields, including final ones, of an object that no constructor has initialised. */
  public void setAll(Object object, List<Long> values, @Nullable Object[] objects) {
    for (int i = 0; i < values.size(); i++) {
      numbers.get(i).setBits(object, values.get(i));
    }
    for (int i = 0; i < objects.length; i++) {
      references.get(i).set(object, objects[i]);
    }
  }
}
