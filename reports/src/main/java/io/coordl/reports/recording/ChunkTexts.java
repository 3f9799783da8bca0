package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The texts that a chunk writes once and its events refer to by number. They lie between the
 * events, each group saying how far before it the previous one is, together with other constants
 * that are skipped by their types. Their number is bounded by the size of a chunk.
 */
final class ChunkTexts implements FileBytes.Texts {
  private static final int RECENT = 64;

  private final FileBytes bytes;
  private final ChunkTypes types;
  private final Map<Long, String> texts = new HashMap<>();

  /** The few that nearly all events refer to. */
  private final long[] recentNumbers = new long[RECENT];

  private final @Nullable String[] recent = new @Nullable String[RECENT];

  private ChunkTexts(FileBytes bytes, ChunkTypes types) {
    this.bytes = bytes;
    this.types = types;
  }

  /**
   * Reads the texts of a chunk.
   *
   * @param last where the last group of constants is, from the chunk's start
   * @throws EOFException if they are damaged
   * @throws UnknownLayoutException if a constant is of a type that we cannot skip
   */
  static ChunkTexts read(FileBytes bytes, ChunkTypes types, long start, long end, long last)
      throws IOException, UnknownLayoutException {
    ChunkTexts texts = new ChunkTexts(bytes, types);
    long at = start + last;
    long back = last == 0 ? 0 : -1;
    while (back != 0) {
      back = texts.readGroup(at, end);
      if (back > 0 || at + back < start) {
        throw new EOFException("constants that refer to nothing");
      }
      at += back;
    }
    return texts;
  }

  @Override
  public @Nullable String get(long number) {
    int at = (int) number & RECENT - 1;
    if (recent[at] == null || recentNumbers[at] != number) {
      recentNumbers[at] = number;
      recent[at] = texts.get(number);
    }
    return recent[at];
  }

  /** Returns how far the previous group is from this, 0 if there is none. */
  private long readGroup(long at, long end) throws IOException, UnknownLayoutException {
    bytes.seek(at, end);
    long size = bytes.number();
    if (size <= 0 || size > end - at || bytes.number() != ChunkWalk.CONSTANTS) {
      throw new EOFException("no constants where some should be");
    }
    bytes.bound(at + size);
    bytes.number(); // when it was written
    bytes.number(); // how long that took
    long back = bytes.number();
    bytes.get(); // what for
    for (int pools = bytes.count(); pools > 0; pools--) {
      long type = bytes.number();
      ChunkTypes.Type known = types.get(type);
      boolean ofTexts = known != null && known.name().equals(EventLayout.TEXT);
      for (int values = bytes.count(); values > 0; values--) {
        long number = bytes.number();
        if (ofTexts) {
          String text = bytes.text(FileBytes.Texts.NONE);
          if (text != null) {
            texts.put(number, text);
          }
        } else {
          EventLayout.skip(bytes, types, type);
        }
      }
    }
    return back;
  }
}
