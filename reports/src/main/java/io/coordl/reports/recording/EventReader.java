package io.coordl.reports.recording;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Turns events of one type into records, component by field of the same name. So a record's
 * declaration is the only place that says which fields are read, and a test can compare it with the
 * event. Fields that a record does not name are ignored: a newer agent may add some.
 */
final class EventReader<R extends Record> {
  private final String event;
  private final RecordComponent[] components;
  private final Constructor<R> constructor;

  EventReader(Class<R> type) {
    EventName name = type.getAnnotation(EventName.class);
    if (name == null) {
      throw new IllegalArgumentException(type + " does not say which event it mirrors");
    }
    this.event = name.value();
    this.components = type.getRecordComponents();
    try {
      this.constructor =
          type.getDeclaredConstructor(
              Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  String event() {
    return event;
  }

  /**
   * @throws MissingFieldException if the event lacks a field, or has one of another type: another
   *     version of the agent wrote it
   */
  R read(JobEvent recorded) {
    @Nullable Object[] values = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      String field = components[i].getName();
      if (!recorded.has(field)) {
        throw new MissingFieldException(event, field);
      }
      try {
        values[i] = value(recorded, field, components[i].getType());
      } catch (IllegalArgumentException otherType) {
        throw new MissingFieldException(event, field);
      }
    }
    try {
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable Object value(JobEvent recorded, String field, Class<?> type) {
    if (type == long.class) {
      return recorded.number(field);
    }
    if (type == double.class) {
      return recorded.real(field);
    }
    if (type == boolean.class) {
      return recorded.flag(field);
    }
    return recorded.text(field);
  }

  /** An event is not of the shape that this version reads. */
  static final class MissingFieldException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MissingFieldException(String event, String field) {
      super("event " + event + " has no field '" + field + "'");
    }
  }
}
