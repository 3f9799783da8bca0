package io.coordl.partition.hosts.membership;

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
 */
public sealed interface Discovery {
  /** For whom none is given. */
  int DEFAULT_PORT = 7800;

  /** More are not tried. */
  int MOST_HOSTS = 256;

  /** Hosts by name. */
  record Named(List<HostPort> hosts) implements Discovery {
    public Named {
      hosts = List.copyOf(hosts);
    }
  }

  /** All addresses of one name, each a host. */
  record Dns(HostPort name) implements Discovery {}

  /** Each host leaves a file with its address there. */
  record Directory(Path path) implements Discovery {}

  /** The nodes of this job of Slurm. */
  record Slurm(int port) implements Discovery {}

  /**
   * Reads one value: {@code HOST[:PORT]}, {@code dns:NAME[:PORT]}, {@code file:DIR} or {@code
   * slurm[:PORT]}.
   *
   * @throws IllegalArgumentException with what is wrong
   */
  static Discovery parse(String value) {
    if (value.startsWith("dns:")) {
      return new Dns(HostPort.parse(value.substring(4)).orPort(DEFAULT_PORT));
    }
    if (value.startsWith("file:")) {
      if (value.length() == 5) {
        throw new IllegalArgumentException("file: names no directory");
      }
      return new Directory(Path.of(value.substring(5)).toAbsolutePath());
    }
    if (value.equals("slurm") || value.startsWith("slurm:")) {
      return new Slurm(HostPort.parse(value).orPort(DEFAULT_PORT).port());
    }
    return new Named(List.of(HostPort.parse(value).orPort(DEFAULT_PORT)));
  }

  /**
   * Reads all values: hosts, or one of another kind.
   *
   * @throws IllegalArgumentException with what is wrong
   */
  static Discovery parse(List<String> values) {
    List<HostPort> hosts = new ArrayList<>();
    for (String value : values) {
      Discovery one = parse(value);
      if (one instanceof Named named) {
        hosts.addAll(named.hosts());
      } else if (values.size() == 1) {
        return one;
      } else {
        throw new IllegalArgumentException(value + " cannot stand beside others");
      }
    }
    if (hosts.size() > MOST_HOSTS) {
      throw new IllegalArgumentException(hosts.size() + " hosts are more than " + MOST_HOSTS);
    }
    return new Named(hosts);
  }

  /**
   * The hosts by name.
   *
   * @param environment that of the process
   * @throws IllegalArgumentException with a sentence for the user if they cannot be told
   */
  default List<HostPort> hosts(Function<String, @Nullable String> environment) {
    if (this instanceof Named named) {
      return named.hosts();
    }
    if (this instanceof Dns dns) {
      return List.of(dns.name());
    }
    if (this instanceof Slurm slurm) {
      String list = environment.apply("SLURM_JOB_NODELIST");
      if (list == null || list.isEmpty()) {
        throw new IllegalArgumentException(
            "peer=slurm: SLURM_JOB_NODELIST is not set, so that the nodes of the job are not known;"
                + " no other host is asked.");
      }
      try {
        return NodeList.expand(list, MOST_HOSTS).stream()
            .map(name -> new HostPort(name, slurm.port()))
            .toList();
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "peer=slurm: SLURM_JOB_NODELIST " + e.getMessage() + "; no other host is asked.", e);
      }
    }
    return List.of();
  }

  /** The port of hosts whose name has none. */
  default int port() {
    if (this instanceof Dns dns) {
      return dns.name().port();
    }
    return this instanceof Slurm slurm ? slurm.port() : DEFAULT_PORT;
  }

  /** The addresses of hosts as far as they are known now; may ask a name server. */
  static Set<InetSocketAddress> resolve(List<HostPort> hosts) {
    Set<InetSocketAddress> found = new LinkedHashSet<>();
    for (HostPort host : hosts) {
      found.addAll(host.resolve());
    }
    return found;
  }
}
