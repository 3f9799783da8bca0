package io.coordl.endtoend;

import io.coordl.harness.Cleanup;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Simulated hosts on this machine. Each is a network namespace with its own address, a rate-limited
 * link to a common switch, and its own {@code /dev/shm} of limited size. With {@code
 * -Dcoordl.loopback=true}, or without root, each is only a loopback address, and links cannot be
 * cut. Closing removes the hosts.
 */
final class Hosts implements AutoCloseable {
  /** JGroups' port; the next one serves items. */
  static final int PORT = 7800;

  /** Resolves to the addresses of all hosts, if they are namespaces. */
  static final String ALL = "nodes.coordl.test";

  private static final String RATE = "400mbit";
  private static final boolean NAMESPACES = namespacesWork();
  private static final boolean HAVE_IPV6 = NAMESPACES && ipv6Works();

  private final String name = "coordl" + ProcessHandle.current().pid() + "-" + number();
  private final Path directory;
  private final String group = "hosts-" + UUID.randomUUID();
  private final List<Host> hosts = new ArrayList<>();
  private final Cleanup undo = new Cleanup();

  private static int lastNumber;

  /**
   * Creates hosts.
   *
   * @param directory an empty directory for the hosts' files
   * @param memory bytes of each host's {@code /dev/shm}
   */
  Hosts(Path directory, int count, long memory) throws IOException, InterruptedException {
    this.directory = directory;
    // So that an aborted test leaves nothing behind.
    Runtime.getRuntime().addShutdownHook(new Thread(this::closeAtExit));
    try {
      if (NAMESPACES) {
        Files.write(names(), hostsFile(count));
        Shell.run("ip", "netns", "add", switchName());
        undo.push(() -> Shell.run("ip", "netns", "del", switchName()));
        inSwitch("link", "add", "bridge", "type", "bridge");
        inSwitch("link", "set", "bridge", "up");
      }
      for (int i = 1; i <= count; i++) {
        hosts.add(NAMESPACES ? namespace(i, memory) : new Host(i, List.of()));
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private Path names() {
    return directory.resolve("names");
  }

  /**
   * Returns the lines of the hosts' {@code /etc/hosts}. The first host is named {@code node1}, and
   * so on; {@link #ALL} is a name of every host.
   */
  private static List<String> hostsFile(int count) {
    List<String> lines = new ArrayList<>(List.of("127.0.0.1 localhost"));
    for (int i = 1; i <= count; i++) {
      lines.add(address(i) + " node" + i + " " + ALL);
    }
    return lines;
  }

  private static synchronized int number() {
    return ++lastNumber;
  }

  private static boolean namespacesWork() {
    try {
      if (Boolean.getBoolean("coordl.loopback")) {
        System.out.println("hosts are loopback addresses, because of -Dcoordl.loopback");
        return false;
      }
      String probe = "coordl-probe" + ProcessHandle.current().pid();
      boolean work =
          Shell.works("ip", "netns", "add", probe)
              && Shell.works("tc", "-V")
              && Shell.works("nsenter", "-V")
              && Shell.works("unshare", "--mount", "true");
      Shell.works("ip", "netns", "del", probe);
      if (!work && System.getProperty("user.name").equals("root")) {
        // Root must not silently run the weaker test.
        throw new IllegalStateException(
            "Network namespaces cannot be created, although root runs this: install iproute2 (ip,"
                + " tc) and util-linux (nsenter, unshare), or use loopback addresses with"
                + " -Dcoordl.loopback=true.");
      }
      System.out.println(
          work
              ? "hosts are network namespaces, with links of " + RATE + " each"
              : "hosts are loopback addresses, and no link can be cut: network namespaces need root"
                  + " and iproute2");
      return work;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean ipv6Works() {
    try {
      String probe = "coordl-probe6-" + ProcessHandle.current().pid();
      boolean work =
          Shell.works("ip", "netns", "add", probe)
              && Shell.works("ip", "-n", probe, "addr", "add", ipv6(1) + "/64", "dev", "lo");
      Shell.works("ip", "netns", "del", probe);
      return work;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether hosts are namespaces, whose links can be cut. */
  static boolean areNamespaces() {
    return NAMESPACES;
  }

  /** Whether hosts also have IPv6 addresses. */
  static boolean haveIpv6() {
    return HAVE_IPV6;
  }

  private String switchName() {
    return name + "-0";
  }

  private void inSwitch(String... arguments) throws IOException, InterruptedException {
    Shell.run(
        Stream.concat(Stream.of("ip", "-n", switchName()), Stream.of(arguments))
            .toArray(String[]::new));
  }

  private Host namespace(int number, long memory) throws IOException, InterruptedException {
    String own = name + "-" + number;
    String port = "port" + number;
    Shell.run("ip", "netns", "add", own);
    undo.push(() -> Shell.run("ip", "netns", "del", own));
    Shell.run(
        "ip",
        "link",
        "add",
        "eth0",
        "netns",
        own,
        "type",
        "veth",
        "peer",
        "name",
        port,
        "netns",
        switchName());
    inSwitch("link", "set", port, "master", "bridge", "up");
    Shell.run("ip", "-n", own, "link", "set", "lo", "up");
    Shell.run("ip", "-n", own, "addr", "add", address(number) + "/24", "dev", "eth0");
    Shell.run("ip", "-n", own, "link", "set", "eth0", "up");
    if (HAVE_IPV6) {
      Shell.run("ip", "-n", own, "addr", "add", ipv6(number) + "/64", "dev", "eth0", "nodad");
    }
    limit(own, "eth0");
    limit(switchName(), port);
    // The mounts last as long as a process uses them.
    Process keeper =
        new ProcessBuilder(
                "ip",
                "netns",
                "exec",
                own,
                "unshare",
                "--mount",
                "/bin/sh",
                "-c",
                "mount --make-rprivate / && mount -t tmpfs -o size=$0 tmpfs /dev/shm"
                    + " && mount --bind \"$1\" /etc/hosts && echo ready && exec sleep infinity",
                Long.toString(memory),
                names().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    undo.push(() -> keeper.destroyForcibly().waitFor());
    BufferedReader reply =
        new BufferedReader(new InputStreamReader(keeper.getInputStream(), StandardCharsets.UTF_8));
    if (!"ready".equals(reply.readLine())) {
      throw new IOException("Cannot create a host.");
    }
    String pid = Long.toString(keeper.pid());
    return new Host(number, List.of("nsenter", "--target", pid, "--mount", "--net"));
  }

  private static void limit(String namespace, String device)
      throws IOException, InterruptedException {
    Shell.run(
        "tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate", RATE, "burst",
        "256kb", "latency", "100ms");
  }

  private static String ipv6(int number) {
    return "fd77:0:0:0:0:0:0:" + number;
  }

  private static String address(int number) {
    return NAMESPACES ? "10.77.0." + number : "127.0.77." + number;
  }

  /** Returns the number of hosts. */
  int count() {
    return hosts.size();
  }

  /** Returns the host with this number, from 1. */
  Host get(int number) {
    return hosts.get(number - 1);
  }

  /** Returns all hosts. */
  List<Host> all() {
    return hosts;
  }

  private void closeAtExit() {
    if (!undo.isEmpty()) {
      ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
      try {
        close();
      } catch (IOException e) {
        System.err.println(e.getMessage());
      }
    }
  }

  /** Removes the hosts, even if only some were created. */
  @Override
  public synchronized void close() throws IOException {
    undo.run();
  }

  /** One host. */
  final class Host {
    private final int number;
    private final List<String> command;

    Host(int number, List<String> command) {
      this.number = number;
      this.command = command;
    }

    /** Counts from 1. */
    int number() {
      return number;
    }

    /** Its IPv4 address. */
    String address() {
      return Hosts.address(number);
    }

    /** Its IPv6 address, if {@link #haveIpv6}. */
    String ipv6() {
      return Hosts.ipv6(number);
    }

    /** Returns all hosts in Slurm's notation. */
    String nodeList() {
      return "node[1-" + count() + "]";
    }

    /** Returns the prefix that runs a command on this host. */
    List<String> command() {
      return command;
    }

    /** Its own directory. */
    Path directory() throws IOException {
      return Files.createDirectories(directory.resolve("host" + number));
    }

    /** Copies a data set to this host, with the original times of the files or new ones. */
    Path copy(Path data, boolean times) throws IOException, InterruptedException {
      Path copy = directory().resolve(data.getFileName());
      Shell.run("cp", times ? "-rp" : "-r", data.toString(), copy.toString());
      return copy;
    }

    /** Arguments of the agent for a job without peers. */
    String arguments(Path data) {
      return arguments(data, group + "-" + number);
    }

    /**
     * Arguments for a job whose peers are all hosts. Without namespaces, the address at which the
     * job listens identifies its host.
     */
    String peerArguments(Path data) {
      return peerArguments(
          data,
          hosts.stream()
                  .map(host -> "peer=" + host.address() + ":" + PORT)
                  .collect(Collectors.joining(","))
              + (NAMESPACES ? "" : ",peer.bind=" + address() + ":" + PORT));
    }

    /** Arguments for a job that finds the other hosts with the arguments {@code peers}. */
    String peerArguments(Path data, String peers) {
      return arguments(data, group) + "," + peers + ",peer.secret=" + secret();
    }

    /** This host's copy of the common secret. */
    private Path secret() {
      try {
        Path file = directory().resolve("peer.secret");
        if (!Files.exists(file)) {
          Files.createFile(
              file,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
          Files.writeString(file, group + "-" + name);
        }
        return file;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private String arguments(Path data, String shared) {
      return "dataset.root="
          + data
          + ",dataset.identity=copy,cache=minio,cache.scope=host,group="
          + shared;
    }

    /**
     * Sends bytes to a port of another host, then waits up to 10 s until that host closes the
     * connection.
     *
     * @param from a shell command that prints the bytes
     */
    void send(String from, Host to, int port) throws InterruptedException {
      List<String> send = new ArrayList<>(command);
      String connection = "/dev/tcp/" + to.address() + "/" + port;
      send.addAll(
          List.of(
              "/bin/bash",
              "-c",
              "exec 3<>"
                  + connection
                  + " && { "
                  + from
                  + " >&3; timeout 10 cat <&3 >/dev/null; }"));
      Shell.works(send.toArray(new String[0]));
    }

    /** Listening sockets of this host: of its namespace, or at its address. */
    List<Sockets.Listening> listening() throws IOException, InterruptedException {
      return Sockets.listening(command).stream()
          .filter(socket -> NAMESPACES || socket.at().startsWith(address() + ":"))
          .toList();
    }

    /** Whether the job represents this host to the others: it listens at {@link #PORT}. */
    boolean isCarrier(Reader job) throws IOException, InterruptedException {
      for (Sockets.Listening socket : listening()) {
        if (socket.at().equals(address() + ":" + PORT) && Sockets.has(job.pid(), socket)) {
          return true;
        }
      }
      return false;
    }

    /** Cuts this host's link at the switch: packets vanish without an error. */
    void cut() throws IOException, InterruptedException {
      inSwitch("link", "set", "port" + number, "down");
    }

    /** Reverts {@link #cut}. */
    void heal() throws IOException, InterruptedException {
      inSwitch("link", "set", "port" + number, "up");
    }
  }
}
