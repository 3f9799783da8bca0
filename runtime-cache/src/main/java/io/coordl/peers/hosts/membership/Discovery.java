package io.coordl.peers.hosts.membership;

import io.coordl.peers.HostPort;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The user's configuration of where to find other hosts. Every kind except the directory yields
 * names rather than addresses. They are resolved repeatedly, because a host may join late; the
 * system's search domains and hosts file apply to them.
 *
 * @param named hosts by name; each address of a name is a separate host
 * @param directory directory in which each host writes a file with its address; null for another
 *     kind
 * @param slurm whether the hosts are the nodes of this Slurm job
 * @param port default port
 */
public record Discovery(List<HostPort> named, @Nullable Path directory, boolean slurm, int port) {
  public static final int DEFAULT_PORT = 7800;

  /** Maximum number of hosts. */
  static final int MAX_HOSTS = 256;

  /**
   * Parses one value: {@code HOST[:PORT]}, {@code dns:NAME[:PORT]}, {@code file:DIR} or {@code
   * slurm[:PORT]}; throws with the reason if it is malformed.
   */
  public static Discovery parse(String value) {
    if (value.startsWith("dns:")) {
      HostPort name = HostPort.parse(value.substring(4)).orPort(DEFAULT_PORT);
      return new Discovery(List.of(name), null, false, name.port());
    }
    if (value.startsWith("file:")) {
      if (value.length() == 5) {
        throw new IllegalArgumentException("file: names no directory");
      }
      Path directory = Path.of(value.substring(5)).toAbsolutePath();
      return new Discovery(List.of(), directory, false, DEFAULT_PORT);
    }
    HostPort host = HostPort.parse(value).orPort(DEFAULT_PORT);
    return host.host().equals("slurm")
        ? new Discovery(List.of(), null, true, host.port())
        : new Discovery(List.of(host), null, false, DEFAULT_PORT);
  }

  /**
   * Parses all values: several hosts, or a single value of any kind; throws with the reason if they
   * are malformed.
   */
  public static Discovery parse(List<String> values) {
    List<HostPort> hosts = new ArrayList<>();
    for (String value : values) {
      Discovery one = parse(value);
      if (values.size() == 1) {
        return one;
      }
      if (one.named.isEmpty() || value.startsWith("dns:")) {
        throw new IllegalArgumentException(value + " cannot be combined with others");
      }
      hosts.addAll(one.named);
    }
    if (hosts.size() > MAX_HOSTS) {
      throw new IllegalArgumentException(
          hosts.size() + " hosts are more than the maximum of " + MAX_HOSTS);
    }
    return new Discovery(hosts, null, false, DEFAULT_PORT);
  }

  /**
   * Returns the hosts by name; throws with a sentence for the user if they cannot be determined.
   */
  List<HostPort> hosts(Function<String, @Nullable String> environment) {
    if (!slurm) {
      return named;
    }
    String list = environment.apply("SLURM_JOB_NODELIST");
    if (list == null || list.isEmpty()) {
      throw new IllegalArgumentException(
          "peer=slurm: SLURM_JOB_NODELIST is not set, so the nodes of the job are unknown;"
              + " no other host is used.");
    }
    try {
      return NodeList.expand(list, MAX_HOSTS).stream()
          .map(name -> new HostPort(name, port))
          .toList();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "peer=slurm: SLURM_JOB_NODELIST " + e.getMessage() + "; no other host is used.", e);
    }
  }

  /** Returns the addresses of {@link #hosts} that resolve now; may query a name server. */
  Set<InetSocketAddress> addresses(Function<String, @Nullable String> environment) {
    Set<InetSocketAddress> addresses = new LinkedHashSet<>();
    hosts(environment).forEach(host -> addresses.addAll(host.resolve()));
    return addresses;
  }
}
