package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The types of a chunk by their numbers, from its description of itself: a tree of elements with
 * attributes, whose names and values are numbers of texts that come first.
 */
final class ChunkTypes {
  /** The JDK's own trees are five levels deep. */
  private static final int DEEPEST = 32;

  /**
   * A field of a type.
   *
   * @param type number of its type
   * @param constant true if a number stands for the value, which is written elsewhere
   * @param array true if there are any number of values
   */
  record Field(String name, long type, boolean constant, boolean array) {}

  /** A type; one without fields is a primitive or a text. */
  record Type(long number, String name, List<Field> fields) {}

  private final Map<Long, Type> types = new HashMap<>();

  private ChunkTypes() {}

  /**
   * Reads the description of a chunk.
   *
   * @param at where it is in the file
   * @param end of the chunk
   * @throws EOFException if it is damaged
   */
  static ChunkTypes read(FileBytes bytes, long at, long end) throws IOException {
    bytes.seek(at, end);
    long size = bytes.number();
    if (size <= 0 || size > end - at || bytes.number() != ChunkWalk.METADATA) {
      throw new EOFException("no description of the events");
    }
    bytes.bound(at + size);
    bytes.number(); // when it was written
    bytes.number(); // how long that took
    bytes.number(); // which description it is
    String[] texts = new String[bytes.count()];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = Objects.requireNonNullElse(bytes.text(FileBytes.Texts.NONE), "");
    }
    ChunkTypes types = new ChunkTypes();
    types.readElement(bytes, texts, null, DEEPEST);
    return types;
  }

  @Nullable Type get(long number) {
    return types.get(number);
  }

  Iterable<Type> all() {
    return types.values();
  }

  private void readElement(
      FileBytes bytes, String[] texts, @Nullable List<Field> fields, int deepest)
      throws IOException {
    if (deepest == 0) {
      throw new EOFException("a description too deep");
    }
    String name = text(bytes, texts);
    Map<String, String> attributes = new HashMap<>();
    for (int left = bytes.count(); left > 0; left--) {
      attributes.put(text(bytes, texts), text(bytes, texts));
    }
    List<Field> own = null;
    if (name.equals("class")) {
      own = new ArrayList<>();
      long number = number(attributes.get("id"));
      types.put(number, new Type(number, attributes.getOrDefault("name", ""), own));
    } else if (name.equals("field") && fields != null) {
      fields.add(
          new Field(
              attributes.getOrDefault("name", ""),
              number(attributes.get("class")),
              "true".equals(attributes.get("constantPool")),
              !"0".equals(attributes.getOrDefault("dimension", "0"))));
    }
    for (int left = bytes.count(); left > 0; left--) {
      readElement(bytes, texts, own, deepest - 1);
    }
  }

  private static String text(FileBytes bytes, String[] texts) throws IOException {
    long number = bytes.number();
    if (number < 0 || number >= texts.length) {
      throw new EOFException("a name that is not there");
    }
    return texts[(int) number];
  }

  private static long number(@Nullable String digits) throws EOFException {
    try {
      return Long.parseLong(String.valueOf(digits));
    } catch (NumberFormatException e) {
      throw new EOFException("no number of a type");
    }
  }
}
