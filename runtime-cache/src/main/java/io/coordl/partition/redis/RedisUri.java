package io.coordl.partition.redis;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
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
    if (!is(text)) {
      throw wrong();
    }
    boolean secure = text.startsWith(SECURE);
    String rest = text.substring(secure ? SECURE.length() : PLAIN.length());
    int at = rest.lastIndexOf('@');
    String user = null;
    String password = null;
    if (at >= 0) {
      String credentials = rest.substring(0, at);
      int colon = credentials.indexOf(':');
      if (colon < 0 || colon == credentials.length() - 1) {
        throw wrong();
      }
      user = colon == 0 ? null : decode(credentials.substring(0, colon));
      password = decode(credentials.substring(colon + 1));
    }
    String place = rest.substring(at + 1);
    int slash = place.indexOf('/');
    String path = slash < 0 ? "" : place.substring(slash + 1);
    String authority = slash < 0 ? place : place.substring(0, slash);
    // The colons of an IPv6 address stand in brackets.
    int colon = authority.indexOf(':', authority.indexOf(']') + 1);
    String host = colon < 0 ? authority : authority.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port = colon < 0 ? DEFAULT_PORT : number(authority.substring(colon + 1), 65535);
    if (host.isEmpty() || port == 0 || host.chars().anyMatch(c -> c <= ' ' || c == '?')) {
      throw wrong();
    }
    int database = path.isEmpty() ? 0 : number(path, 1 << 20);
    return new RedisUri(secure, host, port, database, user, password);
  }

  private static int number(String digits, int most) {
    if (digits.isEmpty()
        || digits.length() > 7
        || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw wrong();
    }
    int number = Integer.parseInt(digits);
    if (number > most) {
      throw wrong();
    }
    return number;
  }

  private static String decode(String encoded) {
    try {
      return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
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
