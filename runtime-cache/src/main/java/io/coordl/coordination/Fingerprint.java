package io.coordl.coordination;

import io.coordl.host.SharedFile;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes a pipeline, part by part: two jobs may share batches only if all parts are equal.
 * Immutable.
 *
 * @param parts name and value as shown to the user, for example {@code "batch size" -> "32"}, in
 *     insertion order; long values as a checksum
 */
public record Fingerprint(Map<String, String> parts) {
  /** Collapses each run of white space in a value into one space. */
  public Fingerprint {
    Map<String, String> normalized = new LinkedHashMap<>();
    parts.forEach((name, value) -> normalized.put(name, value.replaceAll("\\s+", " ")));
    parts = Collections.unmodifiableMap(normalized);
  }

  /**
   * Describes the first part that differs, such as "it differs in its batch size: 32, not 64" or
   * "it has batch size: 32, which the other lacks", or else how the numbers of parts differ; null
   * if all are equal.
   */
  public @Nullable String difference(Fingerprint other) {
    for (Map.Entry<String, String> part : parts.entrySet()) {
      String theirs = other.parts.get(part.getKey());
      if (!part.getValue().equals(theirs)) {
        return theirs == null
            ? "it has " + part.getKey() + ": " + part.getValue() + ", which the other lacks"
            : "it differs in its " + part.getKey() + ": " + part.getValue() + ", not " + theirs;
      }
    }
    int others = other.parts.size();
    return parts.size() == others ? null : "it has " + parts.size() + " properties, not " + others;
  }

  /** Returns the number of common parts; used to find the most similar pipeline. */
  int likeness(Fingerprint other) {
    return (int) parts.entrySet().stream().filter(other.parts.entrySet()::contains).count();
  }

  /** Returns one line per part; {@link #parse} reads it. */
  String text() {
    StringBuilder text = new StringBuilder();
    parts.forEach((name, value) -> text.append(name).append('\t').append(value).append('\n'));
    return text.toString();
  }

  static Fingerprint parse(String text) {
    Map<String, String> parts = new LinkedHashMap<>();
    text.lines()
        .forEach(
            line -> {
              int tab = line.indexOf('\t');
              if (tab > 0) {
                parts.put(line.substring(0, tab), line.substring(tab + 1));
              }
            });
    return new Fingerprint(parts);
  }

  /** Returns a 64-bit checksum of all parts, for a file name; only the text decides equality. */
  long checksum() {
    return SharedFile.checksum(text());
  }
}
