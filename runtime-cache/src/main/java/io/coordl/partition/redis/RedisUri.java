package io.coordl.partition.redis;

import io.coordl.partition.HostPort;
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
    HostPort server,
    int database,
    @Nullable String user,
    @Nullable String password) {
  private static final String FORM = "redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DB]";

  /** The last @ ends the password. */
  private static final Pattern ADDRESS =
      Pattern.compile("redis(s?)://(?:([^:@/]*):(.+)@)?([^/@]+)(?:/([0-9]{0,7}))?", Pattern.DOTALL);

  private static final int MOST_DATABASES = 1 << 20;

  public static boolean is(String text) {
    return text.startsWith("redis://") || text.startsWith("rediss://");
  }

  /** Reads one; throws with a sentence for the user, in which no password stands. */
  public static RedisUri parse(String text) {
    Matcher parts = ADDRESS.matcher(text);
    try {
      if (parts.matches()) {
        HostPort server = HostPort.parse(parts.group(4), 65_535).orPort(6379);
        String digits = parts.group(5);
        int database = digits == null || digits.isEmpty() ? 0 : Integer.parseInt(digits);
        String user = decoded(parts.group(2));
        if (database <= MOST_DATABASES) {
          return new RedisUri(
              !parts.group(1).isEmpty(), server, database, user, decoded(parts.group(3)));
        }
      }
    } catch (IllegalArgumentException e) {
      // Its message has the text, in which a password may stand.
    }
    throw new IllegalArgumentException("This is no address of a Redis, which is " + FORM + ".");
  }

  private static @Nullable String decoded(@Nullable String text) {
    return text == null || text.isEmpty()
        ? null
        : URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /**
   * Describes what a stranger on the network can do with traffic to this server; null if nothing.
   */
  public @Nullable String exposure() {
    String host = server.host();
    boolean here = host.equals("localhost") || host.startsWith("127.") || host.equals("::1");
    if (here || (secure && password != null)) {
      return null;
    }
    return this
        + (secure
            ? " is asked without a password: whoever reaches it can read the items there, and put"
                + " others in."
            : " is asked in the clear: whoever is on the way can read the items, and put others in;"
                + " rediss:// and a password keep strangers out.");
  }

  @Override
  public String toString() {
    return (secure ? "rediss://" : "redis://") + server + (database == 0 ? "" : "/" + database);
  }
}
