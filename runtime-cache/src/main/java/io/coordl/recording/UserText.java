package io.coordl.recording;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Text that came from outside (arguments, paths, names, messages of exceptions) as it may be seen
 * on a terminal and in the recording: on one line, without the credentials of an address.
 */
public final class UserText {
  /** Stands for what is secret. */
  public static final String HIDDEN = "(not shown)";

  /** Made when it is needed: most runs meet no such text. */
  private static final class Address {
    /**
     * Up to the last @ of a word, since a password may have one of its own; made a path, an address
     * has one slash.
     */
    static final Pattern PATTERN = Pattern.compile("(\\w:/+)\\S*@");
  }

  private UserText() {}

  /** Lines for the user, each marked as ours. */
  public static String marked(List<String> lines) {
    return lines.stream().map(line -> "[coordl] " + line(line)).collect(Collectors.joining("\n"));
  }

  /** One value of the user's: whatever stands before its last @ may be a password. */
  public static String value(String value) {
    int at = value.lastIndexOf('@');
    int scheme = value.indexOf("://");
    boolean address = scheme >= 0 && scheme < at;
    if (!address && value.lastIndexOf(':', at) < 0) {
      return line(value); // A path may have an @.
    }
    return line(value.substring(0, address ? scheme + 3 : 0) + HIDDEN + value.substring(at));
  }

  /** A sentence with values in it, made ours; the addresses in it lose their credentials. */
  public static String line(String text) {
    if (isPlain(text)) {
      return text;
    }
    StringBuilder line = new StringBuilder(text.length());
    Address.PATTERN
        .matcher(text)
        .replaceAll("$1" + HIDDEN + "@")
        .codePoints()
        .forEach(c -> add(line, c));
    return line.toString();
  }

  /** Printable ASCII without an address. */
  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || c == '@') {
        return false;
      }
    }
    return true;
  }

  /** What moves the cursor, changes colours or the order of the text is written, not done. */
  private static void add(StringBuilder line, int c) {
    switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.UNASSIGNED ->
          line.append(String.format("\\u%04x", c));
      default -> line.appendCodePoint(c);
    }
  }
}
