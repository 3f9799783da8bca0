package io.coordl.reports.recording;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How the events of one rare type lie in a chunk: all its fields, as there is no hurry. */
final class RareLayout {
  /**
   * A field in the order in which they are written.
   *
   * @param type its name
   */
  private record Field(String name, String type, boolean constant) {}

  private final List<Field> fields = new ArrayList<>();
  private final Consumer<JobEvent> taker;

  private RareLayout(Consumer<JobEvent> taker) {
    this.taker = taker;
  }

  /**
   * Finds the fields of a type.
   *
   * @throws UnknownLayoutException if a field is neither a number, a text nor a constant
   */
  static RareLayout of(ChunkTypes.Type type, ChunkTypes types, Consumer<JobEvent> taker)
      throws UnknownLayoutException {
    RareLayout layout = new RareLayout(taker);
    for (ChunkTypes.Field field : type.fields()) {
      ChunkTypes.Type of = types.get(field.type());
      if (of == null || field.array() || !(field.constant() || EventLayout.isFlat(of.name()))) {
        throw new UnknownLayoutException(type.name() + "." + field.name());
      }
      layout.fields.add(new Field(field.name(), of.name(), field.constant()));
    }
    return layout;
  }

  /** Reads an event from after its type on and hands it on. */
  void read(FileBytes bytes, FileBytes.Texts texts, ChunkHeader chunk) throws IOException {
    Map<String, @Nullable Object> values = new HashMap<>();
    for (Field field : fields) {
      if (field.constant()) {
        bytes.number(); // Threads and stack traces, which no record of ours has.
      } else {
        values.put(field.name(), value(field.type(), bytes, texts));
      }
    }
    long start = values.get("startTime") instanceof Long ticks ? ticks : 0;
    long duration = values.get("duration") instanceof Long ticks ? ticks : 0;
    taker.accept(
        new FlatEvent(
            Instant.ofEpochSecond(0, chunk.nanosAt(start)),
            Instant.ofEpochSecond(0, chunk.nanosAt(start + duration)),
            values));
  }

  private static @Nullable Object value(String type, FileBytes bytes, FileBytes.Texts texts)
      throws IOException {
    return switch (type) {
      case "boolean" -> bytes.get() != 0;
      case "byte" -> (long) bytes.get();
      case "float" -> (double) Float.intBitsToFloat((int) bytes.wide(Float.BYTES));
      case "double" -> Double.longBitsToDouble(bytes.wide(Double.BYTES));
      case EventLayout.TEXT -> {
        RecordedText text = bytes.text(texts);
        yield text == null ? null : text.toString();
      }
      default -> bytes.number();
    };
  }
}
