package io.coordl.partition.redis;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a Redis is, and as whom it is asked: {@code redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]}, or
 * {@code rediss://} for TLS; user and password percent-encoded, port 6379 and database 0 unless
 * told. The text of one never has the password or the user in it.
 *
 * @param secure TLS
 * @param database 0 in a cluster, which has no other
 */
public record RedisUri(
    boolean secure,
    String host,
    int port,
    int database,
    @Nullable String user,
    @Nullable String password) {
  private static final String FORM = "redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DB]";
  private static final String PLAIN = "redis://";
  private static final String SECURE = "rediss://";
  private static final int DEFAULT_PORT = 6379;
  private static final int MOST_DATABASES = 1 << 20;

  /** The last @ ends the password; the colons of an IPv6 address stand in brackets. */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(rediss?)://(?:([^:@/]*):(.+)@)?(?:\\[([^]?@\\s]+)]|([^]\\[:/?@\\s]+))"
              + "(?::([0-9]{1,7}))?(?:/([0-9]{0,7}))?",
          Pattern.DOTALL);

  /** Whether {@code text} is meant to be one. */
  public static boolean is(String text) {
    return text.startsWith(PLAIN) || text.startsWith(SECURE);
  }

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException with a sentence for the user, in which no password stands
   */
  public static RedisUri parse(String text) {
    Matcher parts = ADDRESS.matcher(text);
    if (parts.matches()) {
      String host = parts.group(4) == null ? parts.group(5) : parts.group(4);
      int port = number(parts.group(6), DEFAULT_PORT);
      int database = number(parts.group(7), 0);
      String user = decode(parts.group(2));
      String password = decode(parts.group(3));
      if (port > 0 && port < 1 << 16 && database <= MOST_DATABASES) {
        boolean secure = parts.group(1).length() == 6;
        return new RedisUri(secure, host, port, database, "".equals(user) ? null : user, password);
      }
    }
    throw wrong();
  }

  private static int number(@Nullable String digits, int byDefault) {
    return digits == null || digits.isEmpty() ? byDefault : Integer.parseInt(digits);
  }

  private static @Nullable String decode(@Nullable String encoded) {
    try {
      return encoded == null
          ? null
          : URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong();
    }
  }

  /** Without the text, which may have a password anywhere in it. */
  private static IllegalArgumentException wrong() {
    return new IllegalArgumentException("This is no address of a Redis, which is " + FORM + ".");
  }

  @Override
  public String toString() {
    return (secure ? SECURE : PLAIN) + name(host, port) + (database == 0 ? "" : "/" + database);
  }

  /** A host and a port as one text. */
  static String name(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
