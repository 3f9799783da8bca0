package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
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

  /** By number of the type: a map would cost as much as reading the event. */
  private final @Nullable EventLayout[] frequent;

  private final @Nullable RareLayout[] rare;
  private final FileBytes.Texts texts;
  private final FrequentEvents events;

  private ChunkEvents(
      FileBytes bytes,
      ChunkHeader header,
      @Nullable EventLayout[] frequent,
      @Nullable RareLayout[] rare,
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
    @Nullable EventLayout[] frequent = new @Nullable EventLayout[ChunkWalk.USUAL_TYPES];
    boolean any = false;
    @Nullable RareLayout[] rare = new @Nullable RareLayout[ChunkWalk.USUAL_TYPES];
    for (ChunkTypes.Type type : types.all()) {
      names.putIfAbsent(type.number(), type.name());
      Optional<FrequentType> wanted = FrequentType.of(type.name());
      boolean isFrequent = wanted.isPresent() && takers.types().contains(wanted.get());
      Consumer<JobEvent> taker = takers.rare().get(type.name());
      if (!isFrequent && taker == null) {
        continue;
      }
      if (type.number() < 0 || type.number() >= ChunkWalk.USUAL_TYPES) {
        throw new UnknownLayoutException(type.name() + " is type " + type.number());
      }
      any = true;
      if (isFrequent) {
        frequent[(int) type.number()] = EventLayout.of(wanted.get(), type, types);
      } else if (taker != null) {
        rare[(int) type.number()] = RareLayout.of(type, types, taker);
      }
    }
    FileBytes.Texts texts =
        any ? ChunkTexts.read(bytes, types, start, end, header.constants()) : FileBytes.Texts.NONE;
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
    if (type < 0 || type >= ChunkWalk.USUAL_TYPES) {
      return;
    }
    EventLayout layout = frequent[(int) type];
    RareLayout other = rare[(int) type];
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
