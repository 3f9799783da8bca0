package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the events of one chunk that somebody wants while it is walked through.
 *
 * <p>Why, when the JDK can read events: it makes an object of every field of every event, which
 * takes a multiple of the time ({@code ReportBenchmark}). Ours are flat: numbers and texts. Where
 * they are not, {@link UnknownLayoutException} leaves them to the JDK, and a test holds both ways
 * together.
 */
final class ChunkEvents {
  private final FileBytes bytes;
  private final ChunkHeader header;
  private final Map<Long, EventLayout> frequent;
  private final Map<Long, RareLayout> rare;
  private final FileBytes.Texts texts;
  private final FrequentEvents events;

  private long lastType = -1;
  private @Nullable EventLayout lastLayout;

  private ChunkEvents(
      FileBytes bytes,
      ChunkHeader header,
      Map<Long, EventLayout> frequent,
      Map<Long, RareLayout> rare,
      FileBytes.Texts texts,
      FrequentEvents events) {
    this.bytes = bytes;
    this.header = header;
    this.frequent = frequent;
    this.rare = rare;
    this.texts = texts;
    this.events = events;
  }

  /**
   * Prepares for the events of the chunk that begins at {@code start}.
   *
   * @param names gets the names of the types by their numbers
   * @throws EOFException if the chunk is damaged
   */
  static ChunkEvents of(
      FileBytes bytes, long start, ChunkHeader header, EventTakers takers, Map<Long, String> names)
      throws IOException, UnknownLayoutException {
    long end = start + header.size();
    ChunkTypes types = ChunkTypes.read(bytes, start + header.metadata(), end);
    Map<Long, EventLayout> frequent = new HashMap<>();
    Map<Long, RareLayout> rare = new HashMap<>();
    for (ChunkTypes.Type type : types.all()) {
      names.putIfAbsent(type.number(), type.name());
      Optional<FrequentType> wanted = FrequentType.of(type.name());
      if (wanted.isPresent() && takers.types().contains(wanted.get())) {
        frequent.put(type.number(), EventLayout.of(wanted.get(), type, types));
      }
      Consumer<JobEvent> taker = takers.rare().get(type.name());
      if (taker != null) {
        rare.put(type.number(), RareLayout.of(type, types, taker));
      }
    }
    FileBytes.Texts texts =
        frequent.isEmpty() && rare.isEmpty()
            ? FileBytes.Texts.NONE
            : ChunkTexts.read(bytes, types, start, end, header.constants());
    return new ChunkEvents(bytes, header, frequent, rare, texts, takers.frequent());
  }

  /**
   * Reads the event whose size and type have just been read, if it is wanted.
   *
   * @param end of the event
   * @throws EOFException if it is damaged
   * @throws UnknownLayoutException if it is too long for one of ours
   */
  void read(long type, long end) throws IOException, UnknownLayoutException {
    if (type != lastType) {
      lastType = type;
      lastLayout = frequent.get(type);
    }
    EventLayout layout = lastLayout;
    RareLayout other = layout == null ? rare.get(type) : null;
    if (layout == null && other == null) {
      return;
    }
    bytes.bound(end);
    if (!bytes.hold(end)) {
      throw new UnknownLayoutException("event of " + (end - bytes.position()) + " bytes");
    }
    if (layout != null) {
      layout.read(bytes, texts, header, events);
    } else if (other != null) {
      other.read(bytes, texts, header);
    }
    if (bytes.position() != end) {
      throw new EOFException("an event of another size than its fields");
    }
  }
}
