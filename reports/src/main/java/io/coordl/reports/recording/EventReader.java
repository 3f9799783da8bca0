package io.coordl.reports.recording;

import io.coordl.telemetry.event.Added;
import io.coordl.telemetry.event.AgentEvents;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Reads events of one type back into the class from which the agent wrote them. Reads only the
 * fields of that class; a newer agent may have recorded more.
 */
final class EventReader<E extends Event> {
  final String event;
  private final List<Field> fields;
  private final Constructor<E> constructor;

  EventReader(Class<E> type) {
    this.event = AgentEvents.name(type);
    this.fields = AgentEvents.fields(type);
    try {
      this.constructor = type.getDeclaredConstructor();
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads an event. Throws a {@link MissingFieldException} if a field is missing or has another
   * type, which means that another version of the agent wrote the event. {@link Added} fields,
   * which earlier versions lack, may be missing.
   */
  E read(JobEvent recorded) {
    try {
      E read = constructor.newInstance();
      for (Field field : fields) {
        if (recorded.has(field.getName())) {
          set(read, field, recorded);
        } else if (!field.isAnnotationPresent(Added.class)) {
          throw new MissingFieldException(event, field.getName());
        }
      }
      return read;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private void set(E read, Field field, JobEvent recorded) throws IllegalAccessException {
    String name = field.getName();
    Class<?> type = field.getType();
    try {
      if (type == long.class) {
        field.setLong(read, recorded.number(name));
      } else if (type == double.class) {
        field.setDouble(read, recorded.real(name));
      } else if (type == boolean.class) {
        field.setBoolean(read, recorded.flag(name));
      } else {
        field.set(read, recorded.text(name));
      }
    } catch (IllegalArgumentException otherType) {
      throw new MissingFieldException(event, name);
    }
  }

  /** Returns the values of all fields; equal for equal events. */
  static List<@Nullable Object> values(Event recorded) {
    List<@Nullable Object> values = new ArrayList<>();
    try {
      for (Field field : AgentEvents.fields(recorded.getClass())) {
        values.add(field.get(recorded));
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return values;
  }

  /** Thrown if an event lacks a field that this version needs, or the field has another type. */
  static final class MissingFieldException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MissingFieldException(String event, String field) {
      super("event " + event + " has no usable field '" + field + "'");
    }
  }
}
