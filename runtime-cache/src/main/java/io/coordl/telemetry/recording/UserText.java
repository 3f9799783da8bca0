package io.coordl.telemetry.recording;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Makes text from outside (arguments, paths, names, messages of exceptions) safe for a terminal and
 * the recording: on one line, without the credentials of an address.
 */
public final class UserText {
  public static final String HIDDEN = "(not shown)";

  /** Compiled on first use: most runs print no such text. */
  private static final class Patterns {
    /**
     * Extends to the last @ of a word, since a password may contain one. An address turned into a
     * path has a single slash.
     */
    static final Pattern ADDRESS = Pattern.compile("(\\w:/+)\\S*@");

    /**
     * Characters that move the cursor or change colors or the order of the text; they are escaped.
     */
    static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Cn}]");
  }

  private UserText() {}

  /** Prefixes each line with {@code [coordl]}. */
  public static String marked(List<String> lines) {
    return lines.stream().map(line -> "[coordl] " + line(line)).collect(Collectors.joining("\n"));
  }

  /**
   * Returns a value given by the user. Hides the part before its last @ if that may contain a
   * password.
   */
  public static String value(String value) {
    int at = value.lastIndexOf('@');
    int scheme = value.indexOf("://");
    boolean isAddress = scheme >= 0 && scheme < at;
    if (!isAddress && value.lastIndexOf(':', at) < 0) {
      return line(value); // A path may have an @.
    }
    return line(value.substring(0, isAddress ? scheme + 3 : 0) + HIDDEN + value.substring(at));
  }

  /** Returns a sentence as one safe line, with the credentials in its addresses hidden. */
  public static String line(String text) {
    if (isPlain(text)) {
      return text;
    }
    String shown = Patterns.ADDRESS.matcher(text).replaceAll("$1" + HIDDEN + "@");
    return Patterns.UNSEEN
        .matcher(shown)
        .replaceAll(c -> String.format("\\\\u%04x", c.group().codePointAt(0)));
  }

  /** Whether the text is printable ASCII without an @. */
  private static boolean isPlain(String text) {
    return text.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '@');
  }
}
