package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How the events of one frequent type lie in a chunk: the way to each field that is wanted. */
final class EventLayout {
  static final String TEXT = "java.lang.String";

  /** Structures inside structures: the JDK's own are four deep. */
  private static final int DEEPEST = 16;

  private static final int NOT_WANTED = -1;
  private static final int START = -2;
  private static final int DURATION = -3;

  /** How a field is written. */
  private enum Form {
    NUMBER,
    BYTE,
    FOUR_BYTES,
    EIGHT_BYTES,
    TEXT;

    static @Nullable Form of(String type) {
      return switch (type) {
        case "long", "int", "short", "char" -> NUMBER;
        case "boolean", "byte" -> BYTE;
        case "float" -> FOUR_BYTES;
        case "double" -> EIGHT_BYTES;
        case EventLayout.TEXT -> TEXT;
        default -> null;
      };
    }
  }

  private record Step(Form form, int slot) {}

  private final FrequentType type;
  private final Form[] forms;
  private final int[] slots;
  private final @Nullable String missing;
  private final long[] numbers;

  private EventLayout(FrequentType type, List<Step> steps, @Nullable String missing) {
    this.type = type;
    this.forms = steps.stream().map(Step::form).toArray(Form[]::new);
    this.slots = steps.stream().mapToInt(Step::slot).toArray();
    this.missing = missing;
    this.numbers = new long[type.numbers().size()];
  }

  /**
   * Finds the fields of a type.
   *
   * @throws UnknownLayoutException if a field is neither a number, a text nor a constant
   */
  static EventLayout of(FrequentType wanted, ChunkTypes.Type type, ChunkTypes types)
      throws UnknownLayoutException {
    List<Step> steps = new ArrayList<>();
    List<String> left = new ArrayList<>(wanted.numbers());
    if (wanted.text() != null) {
      left.add(wanted.text());
    }
    for (ChunkTypes.Field field : type.fields()) {
      ChunkTypes.Type of = types.get(field.type());
      Form form = field.constant() ? Form.NUMBER : of == null ? null : Form.of(of.name());
      if (form == null || field.array()) {
        throw new UnknownLayoutException(type.name() + "." + field.name());
      }
      boolean text = form == Form.TEXT;
      int slot = NOT_WANTED;
      if (text ? field.name().equals(wanted.text()) : wanted.numbers().contains(field.name())) {
        if (form == Form.FOUR_BYTES || form == Form.EIGHT_BYTES || field.constant()) {
          throw new UnknownLayoutException(type.name() + "." + field.name());
        }
        left.remove(field.name());
        slot = text ? 0 : wanted.numbers().indexOf(field.name());
      } else if (field.name().equals("startTime")) {
        slot = START;
      } else if (field.name().equals("duration")) {
        slot = DURATION;
      }
      steps.add(new Step(form, slot));
    }
    return new EventLayout(wanted, steps, left.isEmpty() ? null : left.get(0));
  }

  /**
   * Reads an event from after its type on and hands it on.
   *
   * @throws EOFException if the event is damaged
   * @throws EventReader.MissingFieldException if the event lacks a field
   */
  void read(FileBytes bytes, FileBytes.Texts texts, ChunkHeader chunk, FrequentEvents events)
      throws IOException {
    if (missing != null) {
      throw new EventReader.MissingFieldException(type.event(), missing);
    }
    long start = 0;
    long duration = 0;
    String text = null;
    for (int i = 0; i < forms.length; i++) {
      int slot = slots[i];
      switch (forms[i]) {
        case NUMBER -> {
          long number = bytes.number();
          if (slot >= 0) {
            numbers[slot] = number;
          } else if (slot == START) {
            start = number;
          } else if (slot == DURATION) {
            duration = number;
          }
        }
        case BYTE -> {
          byte number = bytes.get();
          if (slot >= 0) {
            numbers[slot] = number;
          }
        }
        case FOUR_BYTES -> bytes.skip(Float.BYTES);
        case EIGHT_BYTES -> bytes.skip(Double.BYTES);
        case TEXT -> {
          String read = bytes.text(texts);
          if (slot >= 0) {
            text = read;
          }
        }
      }
    }
    // As the JDK does: each end is rounded on its own.
    long startNanos = chunk.nanosAt(start);
    events.accept(type, startNanos, chunk.nanosAt(start + duration) - startNanos, numbers, text);
  }

  /** Skips a value of any type. */
  static void skip(FileBytes bytes, ChunkTypes types, long number)
      throws IOException, UnknownLayoutException {
    skip(bytes, types, number, DEEPEST);
  }

  private static void skip(FileBytes bytes, ChunkTypes types, long number, int deepest)
      throws IOException, UnknownLayoutException {
    ChunkTypes.Type type = types.get(number);
    if (type == null || deepest == 0) {
      throw new UnknownLayoutException("type " + number);
    }
    Form form = Form.of(type.name());
    if (form != null) {
      switch (form) {
        case NUMBER -> bytes.number();
        case BYTE -> bytes.get();
        case FOUR_BYTES -> bytes.skip(Float.BYTES);
        case EIGHT_BYTES -> bytes.skip(Double.BYTES);
        case TEXT -> bytes.text(FileBytes.Texts.NONE);
      }
      return;
    }
    for (ChunkTypes.Field field : type.fields()) {
      for (int values = field.array() ? bytes.count() : 1; values > 0; values--) {
        if (field.constant()) {
          bytes.number();
        } else {
          skip(bytes, types, field.type(), deepest - 1);
        }
      }
    }
  }
}
