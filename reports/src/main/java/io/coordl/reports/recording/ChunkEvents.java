package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the frequent events of one chunk while it is walked through.
 *
 * <p>Why, when the JDK can read events: it makes an object of every field of every event, which
 * takes a multiple of the time ({@code ReportBenchmark}). Ours are flat: numbers and texts. Where
 * they are not, {@link UnknownLayoutException} leaves them to the JDK, and a test holds both ways
 * together.
 */
final class ChunkEvents {
  private final FileBytes bytes;
  private final ChunkHeader header;
  private final Map<Long, EventLayout> layouts;
  private final FileBytes.Texts texts;
  private final FrequentEvents events;

  private long lastType = -1;
  private @Nullable EventLayout lastLayout;

  private ChunkEvents(
      FileBytes bytes,
      ChunkHeader header,
      Map<Long, EventLayout> layouts,
      FileBytes.Texts texts,
      FrequentEvents events) {
    this.bytes = bytes;
    this.header = header;
    this.layouts = layouts;
    this.texts = texts;
    this.events = events;
  }

  /**
   * Prepares for the events of the chunk that begins at {@code start}.
   *
   * @throws EOFException if the chunk is damaged
   */
  static ChunkEvents of(FileBytes bytes, long start, ChunkHeader header, FrequentEvents events)
      throws IOException, UnknownLayoutException {
    long end = start + header.size();
    ChunkTypes types = ChunkTypes.read(bytes, start + header.metadata(), end);
    Map<Long, EventLayout> layouts = new HashMap<>();
    for (ChunkTypes.Type type : types.all()) {
      Optional<FrequentType> wanted = FrequentType.of(type.name());
      if (wanted.isPresent()) {
        layouts.put(type.number(), EventLayout.of(wanted.get(), type, types));
      }
    }
    FileBytes.Texts texts =
        layouts.isEmpty()
            ? FileBytes.Texts.NONE
            : ChunkTexts.read(bytes, types, start, end, header.constants());
    return new ChunkEvents(bytes, header, layouts, texts, events);
  }

  /**
   * Reads the event whose size and type have just been read, if it is a frequent one.
   *
   * @param end of the event
   * @throws EOFException if it is damaged
   */
  void read(long type, long end) throws IOException {
    if (type != lastType) {
      lastType = type;
      lastLayout = layouts.get(type);
    }
    EventLayout layout = lastLayout;
    if (layout == null) {
      return;
    }
    bytes.bound(end);
    layout.read(bytes, texts, header, events);
    if (bytes.position() != end) {
      throw new EOFException("an event of another size than its fields");
    }
  }
}
