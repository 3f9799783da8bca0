package io.coordl.peers;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A host, with a port if one is given.
 *
 * @param host name or address; an IPv6 address without its brackets
 * @param port 0 if none was given
 */
public record HostPort(String host, int port) {
  private static final Pattern NAMED = Pattern.compile("([A-Za-z0-9._-]+)(?::([0-9]{1,5}))?");
  private static final Pattern BRACKETED =
      Pattern.compile("\\[([0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?)](?::([0-9]{1,5}))?");

  /**
   * Parses {@code HOST[:PORT]}; throws if malformed. Refuses port 65535, because a host also uses
   * the next port.
   */
  public static HostPort parse(String text) {
    return parse(text, 65_534);
  }

  /**
   * Parses {@code HOST[:PORT]} with a port of at most {@code lastPort}; throws {@link
   * IllegalArgumentException} otherwise.
   */
  public static HostPort parse(String text, int lastPort) {
    Matcher match = (text.startsWith("[") ? BRACKETED : NAMED).matcher(text);
    if (!match.matches()) {
      throw new IllegalArgumentException(text + " is not of the form HOST[:PORT]");
    }
    String digits = match.group(2);
    int port = digits == null ? 0 : Integer.parseInt(digits);
    if (digits != null && (port < 1 || port > lastPort)) {
      throw new IllegalArgumentException(
          "the port of " + text + " is not between 1 and " + lastPort);
    }
    return new HostPort(match.group(1), port);
  }

  public HostPort orPort(int defaultPort) {
    return port == 0 ? new HostPort(host, defaultPort) : this;
  }

  /**
   * Returns all addresses of the name; empty if it does not resolve now. May query a name server.
   */
  public List<InetSocketAddress> resolve() {
    try {
      return Stream.of(InetAddress.getAllByName(host))
          .map(address -> new InetSocketAddress(address, port))
          .toList();
    } catch (UnknownHostException e) {
      return List.of(); // Not registered yet, or no longer; callers retry soon.
    }
  }

  /** Returns the address as text, such as {@code 10.0.0.1:7800}. */
  public static String text(InetSocketAddress address) {
    return new HostPort(address.getAddress().getHostAddress(), address.getPort()).toString();
  }

  @Override
  public String toString() {
    String shown = host.indexOf(':') < 0 ? host : "[" + host + "]";
    return port == 0 ? shown : shown + ":" + port;
  }
}
