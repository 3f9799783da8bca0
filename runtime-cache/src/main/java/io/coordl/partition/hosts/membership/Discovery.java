package io.coordl.partition.hosts.membership;

import io.coordl.partition.HostPort;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Where other hosts are looked for, as the user said it. Names are looked up again and again, since
 * a host may come late; so every kind of discovery but the directory is a list of names, and the
 * search domains and the hosts file of the system hold for it.
 *
 * @param named hosts by name; all addresses of a name are a host each
 * @param directory where each host leaves a file with its address; null for another kind
 * @param slurm whether they are the nodes of this job of Slurm
 * @param port of hosts whose name has none
 */
public record Discovery(List<HostPort> named, @Nullable Path directory, boolean slurm, int port) {
  public static final int DEFAULT_PORT = 7800;

  /** More are not tried. */
  static final int MOST_HOSTS = 256;

  /**
   * Reads one value: {@code HOST[:PORT]}, {@code dns:NAME[:PORT]}, {@code file:DIR} or {@code
   * slurm[:PORT]}; throws with what is wrong.
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

  /** Reads all values: hosts, or one of another kind; throws with what is wrong. */
  public static Discovery parse(List<String> values) {
    List<HostPort> hosts = new ArrayList<>();
    for (String value : values) {
      Discovery one = parse(value);
      if (values.size() == 1) {
        return one;
      }
      if (one.named.isEmpty() || value.startsWith("dns:")) {
        throw new IllegalArgumentException(value + " cannot stand beside others");
      }
      hosts.addAll(one.named);
    }
    if (hosts.size() > MOST_HOSTS) {
      throw new IllegalArgumentException(hosts.size() + " hosts are more than " + MOST_HOSTS);
    }
    return new Discovery(hosts, null, false, DEFAULT_PORT);
  }

  /** The hosts by name; throws with a sentence for the user if they cannot be told. */
  List<HostPort> hosts(Function<String, @Nullable String> environment) {
    if (!slurm) {
      return named;
    }
    String list = environment.apply("SLURM_JOB_NODELIST");
    if (list == null || list.isEmpty()) {
      throw new IllegalArgumentException(
          "peer=slurm: SLURM_JOB_NODELIST is not set, so that the nodes of the job are not known;"
              + " no other host is asked.");
    }
    try {
      return NodeList.expand(list, MOST_HOSTS).stream()
          .map(name -> new HostPort(name, port))
          .toList();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "peer=slurm: SLURM_JOB_NODELIST " + e.getMessage() + "; no other host is asked.", e);
    }
  }

  /** As {@link #hosts}, their addresses as far as they are known now; may ask a name server. */
  Set<InetSocketAddress> addresses(Function<String, @Nullable String> environment) {
    Set<InetSocketAddress> found = new LinkedHashSet<>();
    hosts(environment).forEach(host -> found.addAll(host.resolve()));
    return found;
  }
}
