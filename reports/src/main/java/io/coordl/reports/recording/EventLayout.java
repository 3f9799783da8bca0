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

  /** Ways of reading a field; a number from 0 on is read into the value of that number. */
  private static final int WANTED_TEXT = -1;

  private static final int OTHER_TEXT = -2;
  private static final int FOUR = -3;
  private static final int EIGHT = -4;

  /** A byte goes into the value of the number {@code BYTE - way}. */
  private static final int BYTE = -5;

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

  /** True if values of a type are written as they are, and have no parts. */
  static boolean isFlat(String type) {
    return Form.of(type) != null;
  }

  private final FrequentType type;
  private final int[] ways;
  private final @Nullable String missing;

  /** The numbers that are wanted, the start, the duration, and whatever is not wanted. */
  private final long[] values;

  private final long[] numbers;

  private EventLayout(FrequentType type, List<Integer> ways, @Nullable String missing) {
    this.type = type;
    this.ways = ways.stream().mapToInt(Integer::intValue).toArray();
    this.missing = missing;
    this.numbers = new long[type.numbers().size()];
    this.values = new long[numbers.length + 3];
  }

  /**
   * Finds the fields of a type.
   *
   * @throws UnknownLayoutException if a field is neither a number, a text nor a constant
   */
  static EventLayout of(FrequentType wanted, ChunkTypes.Type type, ChunkTypes types)
      throws UnknownLayoutException {
    List<Integer> ways = new ArrayList<>();
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
      boolean isWanted =
          text ? field.name().equals(wanted.text()) : wanted.numbers().contains(field.name());
      if (isWanted) {
        if (form == Form.FOUR_BYTES || form == Form.EIGHT_BYTES || field.constant()) {
          throw new UnknownLayoutException(type.name() + "." + field.name());
        }
        left.remove(field.name());
      }
      int slot = slot(wanted, field.name());
      ways.add(
          switch (form) {
            case NUMBER -> slot;
            case BYTE -> BYTE - slot;
            case FOUR_BYTES -> FOUR;
            case EIGHT_BYTES -> EIGHT;
            case TEXT -> isWanted ? WANTED_TEXT : OTHER_TEXT;
          });
    }
    return new EventLayout(wanted, ways, left.isEmpty() ? null : left.get(0));
  }

  private static int slot(FrequentType wanted, String field) {
    int wantedAt = wanted.numbers().indexOf(field);
    int count = wanted.numbers().size();
    return wantedAt >= 0
        ? wantedAt
        : field.equals("startTime") ? count : field.equals("duration") ? count + 1 : count + 2;
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
    long[] into = values;
    into[numbers.length] = 0;
    into[numbers.length + 1] = 0;
    RecordedText text = null;
    for (int way : ways) {
      if (way >= 0) {
        into[way] = bytes.number();
      } else if (way == WANTED_TEXT) {
        text = bytes.text(texts);
      } else {
        readOther(way, bytes);
      }
    }
    System.arraycopy(into, 0, numbers, 0, numbers.length);
    // As the JDK does: each end is rounded on its own.
    long start = into[numbers.length];
    long startNanos = chunk.nanosAt(start);
    long endNanos = chunk.nanosAt(start + into[numbers.length + 1]);
    events.accept(type, startNanos, endNanos - startNanos, numbers, text);
  }

  /** Apart from what nearly all fields are, which is compiled all the sooner. */
  private void readOther(int way, FileBytes bytes) throws IOException {
    switch (way) {
      case OTHER_TEXT -> bytes.skipText();
      case FOUR -> bytes.skip(Float.BYTES);
      case EIGHT -> bytes.skip(Double.BYTES);
      default -> values[BYTE - way] = bytes.get();
    }
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
