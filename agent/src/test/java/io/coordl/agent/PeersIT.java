package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.agent.Child.Outcome;
import io.coordl.peers.hosts.PeerTls;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jgroups.BytesMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.Version;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The packaged agent with and without peers: open ports and loaded classes. */
final class PeersIT {
  private static final int FILES = 3;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(Child.LIMIT_SECONDS);

  @TempDir Path work;
  private Path data;
  private int port;
  private Path secret;
  private final List<Process> jobs = new ArrayList<>();

  @BeforeEach
  void makeData() throws IOException {
    data = Files.createDirectory(work.resolve("data"));
    for (int i = 0; i < FILES; i++) {
      Files.write(data.resolve("item-" + i), new byte[5_000 + i]);
    }
    secret = secret("rw-------", "kx2vN0c1Yq8Jr5tWm7Pz4aLd9GfHsBeU3oRi6QjTnMw=");
    do {
      try (ServerSocket any = new ServerSocket(0)) {
        port = any.getLocalPort();
      }
    } while (port > 65_000);
  }

  private Path secret(String mode, String content) throws IOException {
    Path file = Files.createTempFile(work, "peer", ".secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    return Files.writeString(file, content);
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Process job : jobs) {
      job.destroyForcibly().waitFor();
    }
  }

  static List<Path> jdks(TestInfo test) throws IOException {
    return Child.jdks(test);
  }

  /** Starts a job that reads every item and then waits for a line on its standard input. */
  private Process start(Path jdk, String name, String arguments, String... options)
      throws IOException {
    return start(jdk, name, arguments, List.of("wait"), options);
  }

  private Process start(
      Path jdk, String name, String arguments, List<String> programOptions, String... options)
      throws IOException {
    Process job =
        Child.java(jdk, work)
            .with(options)
            .agent("record=off,cache=minio,cache.size=10m,dataset=" + data + arguments)
            .reads(data, programOptions.toArray(new String[0]))
            .start(work.resolve(name + ".err"));
    jobs.add(job);
    BufferedReader out = job.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    while (line != null && !line.equals("ready")) {
      if (line.endsWith("in the program's group")) {
        assertThat(line).startsWith("0 ");
      }
      line = out.readLine();
    }
    assertThat(line).isEqualTo("ready");
    return job;
  }

  private Outcome end(Process job, String name) throws Exception {
    job.getOutputStream().write('\n');
    job.getOutputStream().close();
    return Child.end(job, work.resolve(name + ".err"));
  }

  private String peers(int host) {
    return peersWithoutSecret(host) + ",peer.secret=" + secret;
  }

  private String peersWithoutSecret(int host) {
    return ",group=it-" + port + "," + listed() + ",peer.bind=127.0.0." + host;
  }

  private String listed() {
    return "peer=127.0.0.1:" + port + ",peer=127.0.0.2:" + port;
  }

  /** Addresses at which a process listens, as {@code 127.0.0.1:7800}. */
  private static Set<String> listening(Process job) {
    Set<String> inodes = new TreeSet<>();
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.list(Path.of("/proc/" + job.pid() + "/fd"))) {
      for (Path file : files.toList()) {
        if (Files.exists(file, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
          inodes.add(Files.readSymbolicLink(file).toString());
        }
      }
      for (String table : List.of("tcp", "tcp6")) {
        for (String line : Files.readAllLines(Path.of("/proc/net/" + table))) {
          String[] words = line.trim().split("\\s+", -1);
          if (words[3].equals("0A") && inodes.contains("socket:[" + words[9] + "]")) {
            found.add(address(words[1]));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /** Parses the last four bytes, in native byte order, and the port. */
  private static String address(String hex) {
    int colon = hex.indexOf(':');
    StringBuilder text = new StringBuilder();
    for (int at = colon - 2; at >= colon - 8; at -= 2) {
      text.append(Integer.parseInt(hex.substring(at, at + 2), 16))
          .append(at > colon - 8 ? "." : "");
    }
    return text.append(':').append(Integer.parseInt(hex.substring(colon + 1), 16)).toString();
  }

  private static void awaitListening(Process job, String... addresses) {
    Set<String> wanted = new TreeSet<>(List.of(addresses));
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!listening(job).equals(wanted)) {
      assertThat(System.nanoTime() - deadline).as("listens at " + listening(job)).isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void withoutPeersNoEngineIsLoadedAndNoPortIsOpen(Path jdk) throws Exception {
    Path classes = work.resolve("classes");
    Process job = start(jdk, "alone", "", "-Xlog:class+load:file=" + classes);

    assertThat(listening(job)).isEmpty();
    assertThat(end(job, "alone").exit()).isZero();
    try (Stream<String> lines = Files.lines(classes)) {
      assertThat(lines.filter(line -> line.contains("io.coordl.peers") || line.contains("jgroups")))
          .allMatch(
              line ->
                  line.contains("io.coordl.peers.PeerSink") // Used by the recording.
                      || line.contains("io.coordl.peers.hosts.membership.Discovery"));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void withPeersOnlyTwoPortsOfTheGivenAddressAreOpen(Path jdk) throws Exception {
    Process first = start(jdk, "first", peers(1));
    Process second = start(jdk, "second", peers(2));

    awaitListening(first, "127.0.0.1:" + port, "127.0.0.1:" + (port + 1));
    awaitListening(second, "127.0.0.2:" + port, "127.0.0.2:" + (port + 1));
    for (Outcome outcome : List.of(end(first, "first"), end(second, "second"))) {
      assertThat(outcome.exit()).isZero();
      assertThat(outcome.err().lines()).allMatch(line -> line.startsWith("[coordl] "));
      assertThat(outcome.agentLines()).anyMatch(line -> line.contains("raw cache (host)"));
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void interruptingAllThreadsDoesNotStopTheAgent(Path jdk) throws Exception {
    Process first = start(jdk, "first", peers(1));
    awaitListening(first, "127.0.0.1:" + port, "127.0.0.1:" + (port + 1));
    // The second finds the first, so both its membership and its engine are at work.
    Process second = start(jdk, "second", peers(2) + ",peer.hosts=2", List.of("interrupt", "wait"));

    awaitListening(second, "127.0.0.2:" + port, "127.0.0.2:" + (port + 1));
    first.destroyForcibly().waitFor();
    Process third = start(jdk, "third", peers(1) + ",peer.hosts=2");
    for (Outcome outcome : List.of(end(second, "second"), end(third, "third"))) {
      assertThat(outcome.exit()).isZero();
      assertThat(outcome.agentLines())
          .noneMatch(line -> line.contains("fault") || line.contains("hosts joined within"));
    }
    assertNothingIsLeft();
  }

  @Test
  void oneOfTwoJobsListensAndTheOtherTakesOver() throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"));
    Process first = start(jdk, "first", peers(1));
    awaitListening(first, "127.0.0.1:" + port, "127.0.0.1:" + (port + 1));
    Process second = start(jdk, "second", peers(1));

    assertThat(listening(second)).isEmpty();
    first.destroyForcibly().waitFor();
    awaitListening(second, "127.0.0.1:" + port, "127.0.0.1:" + (port + 1));
    assertThat(end(second, "second").exit()).isZero();
    assertNothingIsLeft();
  }

  @Test
  void aMissingKeyStoreIsReportedAndTheJobContinues() throws Exception {
    Process job =
        start(
            Path.of(System.getProperty("java.home")),
            "job",
            peersWithoutSecret(1) + ",peer.tls=/no/such/store.p12");

    Outcome outcome = end(job, "job");
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.agentLines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains("/no/such/store.p12 does not exist")
                    .endsWith("No other host is used."));
  }

  @Test
  void withoutASecretNoPortIsOpenAndOneSentenceGivesTheReason() throws Exception {
    Path open = secret("rw-r--r--", Files.readString(secret));
    Map<String, String> refused = new LinkedHashMap<>();
    refused.put("", "peer= needs peer.secret=FILE or peer.tls=KEYSTORE");
    refused.put(",peer.secret=" + open, "peer.secret=" + open + " has mode 0644");
    refused.put(
        ",peer.secret=" + secret + ",peer.tls=" + secret, "peer.secret and peer.tls were both");
    for (Map.Entry<String, String> each : refused.entrySet()) {
      Path jdk = Path.of(System.getProperty("java.home"));
      Process job = start(jdk, "job", peersWithoutSecret(1) + each.getKey());
      assertThat(listening(job)).isEmpty();
      Outcome outcome = end(job, "job");
      assertThat(outcome.exit()).isZero();
      assertThat(outcome.agentLines())
          .filteredOn(line -> line.endsWith("No other host is used."))
          .singleElement()
          .asString()
          .contains(each.getValue());
    }
  }

  /** Sends each message without and with the secret, because the agent parses only the latter. */
  @ParameterizedTest
  @MethodSource("jdks")
  void noObjectIsDeserializedFromAPeersMessage(Path jdk) throws Exception {
    Process job = start(jdk, "job", peers(1), List.of("probe", "wait"));
    awaitListening(job, "127.0.0.1:" + port, "127.0.0.1:" + (port + 1));
    for (Message message :
        List.of(
            new ObjectMessage(null, (Object) new HashSet<>(List.of(new HashSet<>()))),
            new BytesMessage(null, (Object) new HashSet<>(List.of(new HashSet<>()))))) {
      send(new Socket(InetAddress.getLoopbackAddress(), port), message);
      send(
          PeerTls.ofSecret(secret)
              .getSocketFactory()
              .createSocket(InetAddress.getLoopbackAddress(), port),
          message);
    }
    Outcome outcome = end(job, "job");
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.err()).doesNotContain("made out of bytes");
    assertThat(outcome.agentLines())
        .anyMatch(line -> line.contains("did not authenticate as a peer"));
    assertNothingIsLeft();
  }

  /** Connects like JGroups, sends the message, and waits until it has been read. */
  private void send(Socket socket, Message message) throws Exception {
    IpAddress own = new IpAddress(InetAddress.getByName("127.0.0.9"), port);
    ByteArrayDataOutputStream frame = new ByteArrayDataOutputStream();
    Util.writeMessage(message, frame, true);
    try (socket) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.write("bela".getBytes(StandardCharsets.US_ASCII));
      out.writeShort(Version.version);
      out.writeShort(own.serializedSize());
      own.writeTo(out);
      out.writeInt(frame.position());
      out.write(frame.buffer(), 0, frame.position());
      out.flush();
      socket.shutdownOutput();
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // The agent disconnected first.
    }
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      assertThat(files.filter(file -> file.toString().contains("it-" + port))).isEmpty();
    }
  }
}
