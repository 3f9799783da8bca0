package io.coordl.recording;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Text that came from outside (arguments, paths, names, messages of exceptions) as it may be seen
 * on a terminal and in the recording: on one line, without the credentials of an address.
 */
public final class UserText {
  public static final String HIDDEN = "(not shown)";

  /** Made when they are needed: most runs meet no such text. */
  private static final class Patterns {
    /**
     * Up to the last @ of a word, since a password may have one of its own; made a path, an address
     * has one slash.
     */
    static final Pattern ADDRESS = Pattern.compile("(\\w:/+)\\S*@");

    /** What moves the cursor, changes colours or the order of the text is written, not done. */
    static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Cn}]");
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
    String shown = Patterns.ADDRESS.matcher(text).replaceAll("$1" + HIDDEN + "@");
    return Patterns.UNSEEN
        .matcher(shown)
        .replaceAll(c -> String.format("\\\\u%04x", c.group().codePointAt(0)));
  }

  /** Printable ASCII without an address. */
  private static boolean isPlain(String text) {
    return text.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '@');
  }
}
