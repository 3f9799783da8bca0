package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.PeerTls;
import io.coordl.peers.hosts.TestSecret;
import io.coordl.peers.redis.TestKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hosts find each other over real sockets. Each has its own directory, like a separate machine. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HostMembershipTest {
  @TempDir Path work;

  private final List<HostMembership> open = new ArrayList<>();
  private final Queue<String> logged = new ConcurrentLinkedQueue<>();
  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = Hosts.freePort();
  }

  @AfterEach
  void leave() {
    open.forEach(HostMembership::close);
  }

  private HostMembership host(int number, Discovery peers, String group, SSLContext tls)
      throws IOException {
    return host(number, peers, group, tls, Hosts.listening());
  }

  private HostMembership host(
      int number, Discovery peers, String group, SSLContext tls, HostMembership.ItemServer carried)
      throws IOException {
    HostMembership.Settings settings =
        new HostMembership.Settings(
            Files.createDirectories(work.resolve("host" + number)),
            "store",
            group,
            peers,
            HostPort.parse(Hosts.name(number, port)),
            tls,
            () -> 1000 + number,
            name -> null);
    HostMembership host = new HostMembership(settings, carried, logged::add);
    open.add(host);
    return host;
  }

  private Discovery named(int count) {
    return Discovery.parse(Hosts.names(count, port));
  }

  private static void awaitMembers(HostMembership host, List<String> names) {
    Hosts.await(
        host.self() + " sees " + names + ", not " + Hosts.names(host),
        () -> Hosts.names(host).equals(names));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void hostsThatStartTogetherFormOneView(int count) throws IOException {
    List<HostMembership> hosts = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      hosts.add(host(number, named(count), "g", TestSecret.ours()));
    }
    for (HostMembership host : hosts) {
      awaitMembers(host, Hosts.names(count, port));
      assertThat(host.members())
          .allSatisfy(
              member -> {
                assertThat(member.data().getPort()).isEqualTo(port + 1);
                assertThat(member.name()).isEqualTo(member.data().getHostString() + ":" + port);
                assertThat(member.capacity())
                    .isEqualTo(1000 + member.data().getAddress().getAddress()[3]);
              });
    }
    assertThat(hosts.get(0).self()).isEqualTo(Hosts.name(1, port));
    assertThat(logged).isEmpty();
  }

  @Test
  void theMemberListIsCachedUntilAHostJoins() throws IOException {
    HostMembership first = host(1, named(2), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(1, port));
    var alone = first.members();
    assertThat(first.members()).isSameAs(alone);

    HostMembership second = host(2, named(2), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(2, port));
    awaitMembers(second, Hosts.names(2, port));
    assertThat(alone).hasSize(1);
  }

  @Test
  void hostsMeetInADirectory() throws IOException {
    Discovery directory = Discovery.parse("file:" + work.resolve("meeting"));
    HostMembership first = host(1, directory, "g", TestSecret.ours());
    HostMembership second = host(2, directory, "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(2, port));
    awaitMembers(second, Hosts.names(2, port));
    second.close();
    assertThat(work.resolve("meeting").resolve("127.0.0.2_" + port + ".peer")).doesNotExist();
  }

  @Test
  void aHostOfAnotherGroupIsIgnoredAndLogged() throws IOException {
    HostMembership first = host(1, named(3), "g", TestSecret.ours());
    HostMembership other = host(2, named(3), "h", TestSecret.ours());
    HostMembership third = host(3, named(3), "g", TestSecret.ours());
    awaitMembers(first, List.of(Hosts.name(1, port), Hosts.name(3, port)));
    awaitMembers(third, List.of(Hosts.name(1, port), Hosts.name(3, port)));
    Hosts.await(
        "the stranger is logged",
        () -> logged.contains(Hosts.name(2, port) + " is a peer of another group; it is ignored."));
    awaitMembers(other, List.of(Hosts.name(2, port)));
  }

  @Test
  void withTlsHostsFindEachOtherAndAnIntruderIsRefusedAndLogged() throws Exception {
    char[] password = "changeit".toCharArray();
    SSLContext trusted = PeerTls.load(TestKeys.store(work, "trusted"), password);
    SSLContext foreign = PeerTls.load(TestKeys.store(work, "foreign"), password);
    HostMembership first = host(1, named(3), "g", trusted);
    HostMembership second = host(2, named(3), "g", trusted);
    awaitMembers(first, Hosts.names(2, port));
    awaitMembers(second, Hosts.names(2, port));

    HostMembership intruder = host(3, named(3), "g", foreign);
    Hosts.await(logged + ": the one with another key was refused", () -> refused("127.0.0.3"));
    awaitMembers(intruder, List.of(Hosts.name(3, port)));
    assertThat(Hosts.names(first)).isEqualTo(Hosts.names(2, port));
    assertThat(logged).allMatch(sentence -> sentence.startsWith("A connection from 127.0.0."));
  }

  @Test
  void withTlsAClientWithoutACertificateIsRefused() throws Exception {
    Path keystore = TestKeys.store(work, "trusted");
    SSLContext ours = PeerTls.load(keystore, "changeit".toCharArray());
    HostMembership first = host(1, named(1), "g", ours);
    awaitMembers(first, Hosts.names(1, port));
    // The client trusts this host's certificate but has no key.
    KeyStore store = KeyStore.getInstance(keystore.toFile(), "changeit".toCharArray());
    KeyStore trusting = KeyStore.getInstance("PKCS12");
    trusting.load(null);
    trusting.setCertificateEntry("trusted", store.getCertificate("trusted"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusting);
    SSLContext nobody = SSLContext.getInstance("TLSv1.3");
    nobody.init(null, trust.getTrustManagers(), null);
    try (Socket socket =
        nobody.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
      // A refused client gets the reason after its handshake; an accepted one that stays silent
      // gets nothing.
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SSLException.class)
          .hasMessageContaining("certificate");
    }
    Hosts.await(logged + ": it is logged", () -> refused("127.0.0.1"));
  }

  private boolean refused(String from) {
    return logged.contains(
        "A connection from " + from + " did not authenticate as a peer; it was refused.");
  }

  @Test
  void garbageClosesItsConnectionAndLogsOneSentence() throws Exception {
    HostMembership first = host(1, named(1), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(1, port));
    for (int i = 0; i < 3; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket
            .getOutputStream()
            .write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        socket.getInputStream().transferTo(OutputStream.nullOutputStream()); // Read to the end.
      } catch (java.net.SocketException e) {
        // Reset: closed as well.
      }
    }
    assertThat(logged)
        .containsExactly(
            "A connection from 127.0.0.1 did not authenticate as a peer; it was refused.");
    host(2, named(2), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(2, port));
  }

  @Test
  void aFaultDoesNotEndTheMembershipAndIsReportedOnce() throws IOException {
    Queue<String> faults = new ConcurrentLinkedQueue<>();
    Bridge.install(
        SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where + cause));
    try {
      AtomicInteger calls = new AtomicInteger();
      HostMembership first =
          host(
              1,
              named(1),
              "g",
              TestSecret.ours(),
              address -> {
                if (calls.incrementAndGet() <= 2) {
                  throw new IllegalStateException("expected");
                }
                return Hosts.listening().open(address);
              });
      awaitMembers(first, Hosts.names(1, port));
      assertThat(faults)
          .containsExactly("coordl-membership" + new IllegalStateException("expected"));
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aPortInUseIsLoggedAndTheJobContinues() throws IOException {
    try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      HostMembership first = host(1, named(2), "g", TestSecret.ours());
      Hosts.await("it is logged", () -> !logged.isEmpty());
      assertThat(first.members()).isEmpty();
      assertThat(logged)
          .allMatch(sentence -> sentence.contains(Hosts.name(1, taken.getLocalPort())));
    }
    Hosts.await("the host joins once the port is free", () -> !open.get(0).members().isEmpty());
  }

  @Test
  void allThreadsAreDaemonsAndEndWithTheMember() throws IOException {
    Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
    HostMembership first = host(1, named(2), "g", TestSecret.ours());
    HostMembership second = host(2, named(2), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(2, port));
    awaitMembers(second, Hosts.names(2, port));
    Set<Thread> ours = new HashSet<>(Thread.getAllStackTraces().keySet());
    ours.removeAll(before);
    assertThat(ours).isNotEmpty().allMatch(Thread::isDaemon);
    first.close();
    second.close();
    for (Thread thread : ours) {
      Hosts.await(thread.getName() + " has ended", () -> !thread.isAlive());
    }
  }

  @Test
  void theLastJobDeletesTheFile() throws IOException {
    HostMembership first = host(1, named(1), "g", TestSecret.ours());
    awaitMembers(first, Hosts.names(1, port));
    Path directory = work.resolve("host1");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files)
          .singleElement()
          .satisfies(
              file ->
                  assertThat(Files.getPosixFilePermissions(file))
                      .isEqualTo(
                          java.nio.file.attribute.PosixFilePermissions.fromString("rw-------")));
    }
    first.close();
    assertThat(directory).isEmptyDirectory();
  }
}
