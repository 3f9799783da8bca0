package io.coordl.peers.redis;

import io.coordl.peers.HostPort;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Address and credentials of a Redis server: {@code redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]}, or
 * {@code rediss://} for TLS; user and password are percent-encoded; port 6379 and database 0 are
 * the defaults. {@link #toString} never contains the user or the password.
 *
 * @param secure whether to use TLS
 * @param database database number; a cluster has only 0
 */
public record RedisUri(
    boolean secure,
    HostPort server,
    int database,
    @Nullable String user,
    @Nullable String password) {
  private static final String FORM = "redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DB]";

  /** The password extends to the last {@code @}. */
  private static final Pattern ADDRESS =
      Pattern.compile("redis(s?)://(?:([^:@/]*):(.+)@)?([^/@]+)(?:/([0-9]{0,7}))?", Pattern.DOTALL);

  private static final int MAX_DATABASES = 1 << 20;

  public static boolean is(String text) {
    return text.startsWith("redis://") || text.startsWith("rediss://");
  }

  /**
   * Parses an address. The exception's message can be shown to the user: it never contains the
   * password.
   */
  public static RedisUri parse(String text) {
    Matcher parts = ADDRESS.matcher(text);
    try {
      if (parts.matches()) {
        HostPort server = HostPort.parse(parts.group(4), 65_535).orPort(6379);
        String digits = parts.group(5);
        int database = digits == null || digits.isEmpty() ? 0 : Integer.parseInt(digits);
        String user = decoded(parts.group(2));
        if (database <= MAX_DATABASES) {
          return new RedisUri(
              !parts.group(1).isEmpty(), server, database, user, decoded(parts.group(3)));
        }
      }
    } catch (IllegalArgumentException e) {
      // Drop its message, which may contain the password.
    }
    throw new IllegalArgumentException("Not a Redis address; expected " + FORM + ".");
  }

  private static @Nullable String decoded(@Nullable String text) {
    return text == null || text.isEmpty()
        ? null
        : URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Describes what an attacker on the network can read and change; null if nothing. */
  public @Nullable String exposure() {
    String host = server.host();
    boolean here = host.equals("localhost") || host.startsWith("127.") || host.equals("::1");
    if (here || (secure && password != null)) {
      return null;
    }
    return this
        + (secure
            ? " is used without a password: anyone who can reach it can read its items and replace"
                + " them."
            : " is used without encryption: anyone on the network path can read its items and"
                + " replace them. Use rediss:// and a password.");
  }

  @Override
  public String toString() {
    return (secure ? "rediss://" : "redis://") + server + (database == 0 ? "" : "/" + database);
  }
}
