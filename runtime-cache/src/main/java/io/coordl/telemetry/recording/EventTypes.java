package io.coordl.telemetry.recording;

import java.io.DataInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/**
 * Writes the agent's events and their description in the format of Flight Recorder, as described by
 * the build ({@link EventDescription}). For one thread at a time.
 */
final class EventTypes {
  static final long METADATA = 0;
  private static final long CONSTANTS = 1;

  /** Resource next to this class, written by the build. */
  private static final String DESCRIPTION = "events.bin";

  private static final class Layout {
    final long number;

    /** Shorter events, in nanoseconds, are left out. */
    final long threshold;

    private final String[] names;
    private Field @Nullable [] fields;

    Layout(DataInputStream in) throws IOException {
      number = in.readLong();
      threshold = in.readLong();
      names = new String[in.readInt()];
      for (int i = 0; i < names.length; i++) {
        names[i] = in.readUTF();
      }
    }

    /** Looked up when the first event is written: most jobs write only some kinds. */
    Field[] fields(Class<?> event) throws NoSuchFieldException {
      Field[] known = fields;
      if (known == null) {
        known = new Field[names.length];
        for (int i = 0; i < names.length; i++) {
          known[i] = event.getField(names[i]);
        }
        fields = known;
      }
      return known;
    }
  }

  private final long threads;
  private final Map<String, Layout> layouts = new HashMap<>();

  /** The description of all events, itself an event. */
  final FlightBytes metadata = new FlightBytes();

  /** Reads the description made by the build; throws if the agent's jar cannot be read. */
  EventTypes() throws IOException {
    try (InputStream found = EventTypes.class.getResourceAsStream(DESCRIPTION)) {
      if (found == null) {
        throw new FileNotFoundException(DESCRIPTION + " is missing from the agent");
      }
      DataInputStream in = new DataInputStream(found);
      threads = in.readLong();
      int events = in.readInt();
      for (int i = 0; i < events; i++) {
        layouts.put(in.readUTF(), new Layout(in));
      }
      byte[] rest = in.readAllBytes();
      metadata.raw(rest, rest.length);
    }
  }

  /**
   * Appends a group of constants: the threads that events refer to.
   *
   * @param last offset of the previous group relative to this one; 0 if there is none
   * @param named names of the threads, by number
   */
  void writeThreads(FlightBytes to, long last, Map<Long, String> named) {
    int group = to.begin(CONSTANTS);
    to.number(System.nanoTime());
    to.number(0); // duration
    to.number(last);
    to.flag(true); // flushed
    to.number(named.isEmpty() ? 0 : 1); // number of pools; empty pools are not allowed
    if (!named.isEmpty()) {
      to.number(threads);
      to.number(named.size());
    }
    for (Map.Entry<Long, String> thread : named.entrySet()) {
      to.number(thread.getKey());
      to.text(thread.getValue());
      to.number(0);
      to.text(thread.getValue());
      to.number(thread.getKey());
    }
    to.end(group);
  }

  /** Whether an event of this duration is shorter than the {@link Threshold} of its class. */
  boolean leavesOut(Object event, long nanos) {
    Layout layout = layouts.get(event.getClass().getName());
    return layout != null && nanos < layout.threshold;
  }

  /**
   * Appends an event, however short.
   *
   * @param thread constant that stands for the thread
   * @throws IllegalArgumentException if it is not one of {@link EventDescription#EVENTS}
   */
  void write(FlightBytes to, Object event, long start, long end, long thread) {
    Layout layout = layouts.get(event.getClass().getName());
    if (layout == null) {
      throw new IllegalArgumentException(event.getClass() + " is not an event of a recording");
    }
    int at = to.begin(layout.number);
    to.number(start);
    to.number(Math.max(0, end - start));
    to.number(thread);
    try {
      for (Field field : layout.fields(event.getClass())) {
        Class<?> type = field.getType();
        if (type == long.class) {
          to.number(field.getLong(event));
        } else if (type == boolean.class) {
          to.flag(field.getBoolean(event));
        } else if (type == double.class) {
          to.real(field.getDouble(event));
        } else {
          to.text((String) field.get(event));
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    to.end(at);
  }
}
