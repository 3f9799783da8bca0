package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.Waits;
import io.coordl.peers.hosts.Hosts.Host;
import io.coordl.peers.redis.TestKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Only hosts with the key are peers. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerTlsTest {
  private static final int ITEMS = 200;

  @TempDir static Path keys;
  private static Path ours;
  private static Path theirs;

  @TempDir Path directory;

  @BeforeAll
  static void makeKeys() throws Exception {
    ours = TestKeys.store(keys, "ours");
    theirs = TestKeys.store(keys, "theirs");
  }

  private static SSLContext load(Path file) throws IOException {
    return PeerTls.load(file, TestKeys.PASSWORD.toCharArray());
  }

  private static List<SSLContext> wrong() throws IOException {
    return List.of(load(theirs), TestSecret.ours());
  }

  private static void await(java.util.function.BooleanSupplier condition) {
    long end = System.nanoTime() + Waits.LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("time left").isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  private Hosts hosts(int count, SSLContext tls) throws IOException {
    Hosts hosts = new Hosts(directory, Hosts.PATIENT, tls);
    for (int i = 0; i < count; i++) {
      hosts.add("16m");
    }
    hosts.publishMembers();
    return hosts;
  }

  @Test
  void withTheSameKeyEveryItemIsReadOnce() throws Exception {
    try (Hosts hosts = hosts(3, load(ours))) {
      for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < ITEMS; i++) {
          for (Host host : hosts.hosts) {
            host.fetch(i);
          }
        }
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
      assertThat(hosts.kept()).isEqualTo(ITEMS);
      assertThat(hosts.logged).isEmpty();
      for (Host host : hosts.hosts) {
        assertThat(host.store.items()).isPositive();
      }
    }
  }

  @Test
  void aHostWithAnotherKeyIsRefusedAndReadsStorage() throws Exception {
    try (Hosts hosts = hosts(1, load(ours))) {
      hosts.host(0).fetch(1);
      // If a stranger disconnects early, its alert may be lost, and nothing is logged: retry.
      long end = System.nanoTime() + Waits.LONG.toNanos();
      do {
        assertThat(System.nanoTime() - end).as("time left").isNegative();
        for (SSLContext wrong : wrong()) {
          fetchAsAStranger(hosts.host(0), wrong);
        }
      } while (hosts.logged.isEmpty());
      assertThat(hosts.host(0).store.items()).isEqualTo(1);
      assertThat(hosts.logged).hasSize(1);
      assertThat(hosts.logged.get(0)).contains("did not authenticate as a peer");
      hosts.host(0).fetch(2);
      assertThat(hosts.host(0).store.items()).isEqualTo(2);
    }
  }

  private void fetchAsAStranger(Host host, SSLContext wrong) throws Exception {
    try (Hosts others = new Hosts(directory, Hosts.PATIENT, wrong)) {
      others.add("16m");
      others.addFake(host.server().address(), 1L << 60);
      others.publishMembers();
      for (int i = 0; i < 20; i++) {
        others.host(0).fetch(i);
      }
      assertThat(others.reads()).isEqualTo(20);
      assertThat(others.host(0).faults()).isEqualTo(1);
    }
  }

  @Test
  void aServerWithAnotherKeyIsNotUsed() throws Exception {
    for (SSLContext wrong : wrong()) {
      try (Hosts others = hosts(1, wrong);
          Hosts hosts = new Hosts(directory, Hosts.PATIENT, load(ours))) {
        hosts.add("16m");
        hosts.addFake(others.host(0).server().address(), 1L << 60);
        hosts.publishMembers();
        for (int i = 0; i < 20; i++) {
          hosts.host(0).fetch(i);
        }
        assertThat(hosts.reads()).isEqualTo(20);
        assertThat(hosts.host(0).store.items()).isEqualTo(20);
        assertThat(others.host(0).store.items()).isZero();
        await(() -> others.logged.size() == 1);
      }
    }
  }

  @Test
  void aClientWithoutACertificateSeesNoItem() throws Exception {
    try (Hosts hosts = hosts(1, load(ours))) {
      hosts.host(0).fetch(1);
      SSLContext nobody = SSLContext.getInstance("TLSv1.3");
      nobody.init(null, new TrustManager[] {new Trusting()}, null);
      InetSocketAddress address = hosts.host(0).server().address();
      try (SSLSocket socket =
          (SSLSocket)
              nobody.getSocketFactory().createSocket(address.getAddress(), address.getPort())) {
        assertThatThrownBy(
                () -> {
                  socket.startHandshake();
                  socket.getOutputStream().write(Wire.hello(PeerItems.GROUP));
                  byte[] answer = socket.getInputStream().readAllBytes();
                  throw new AssertionError("answered with " + answer.length + " bytes");
                })
            .isInstanceOf(IOException.class);
      }
      await(() -> hosts.logged.size() == 1);
    }
  }

  /** Trusts every server. */
  private static final class Trusting implements X509TrustManager {
    @Override
    public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type) {}

    @Override
    public java.security.cert.X509Certificate[] getAcceptedIssuers() {
      return new java.security.cert.X509Certificate[0];
    }
  }

  @Test
  void aSilentClientIsDisconnectedWithoutALogLine() throws Exception {
    try (Hosts hosts = new Hosts(directory, Hosts.SHARP, load(ours))) {
      hosts.add("16m");
      hosts.publishMembers();
      InetSocketAddress address = hosts.host(0).server().address();
      try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
      }
      assertThat(hosts.logged).isEmpty();
    }
  }

  @Test
  void anUnusableKeyStoreIsExplained() throws Exception {
    Path trustOnly = keys.resolve("trust.p12");
    char[] password = TestKeys.PASSWORD.toCharArray();
    KeyStore mine = KeyStore.getInstance(ours.toFile(), password);
    mine.setCertificateEntry("trusted", mine.getCertificate("ours"));
    mine.deleteEntry("ours");
    try (OutputStream out = Files.newOutputStream(trustOnly)) {
      mine.store(out, password);
    }
    assertThatThrownBy(() -> load(trustOnly))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(trustOnly.toString())
        .hasMessageContaining("no private key");
    assertThatThrownBy(() -> load(keys.resolve("absent.p12")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("absent.p12 does not exist");
    assertThatThrownBy(() -> PeerTls.load(ours, "wrong".toCharArray()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("password does not open " + ours);
    Path text = Files.writeString(keys.resolve("text.p12"), "no key store");
    assertThatThrownBy(() -> load(text))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(text + " cannot be read as a PKCS12 key store");
    Path fifo = keys.resolve("fifo.p12");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> load(fifo))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(fifo + " cannot be read as a PKCS12 key store")
        .hasMessageContaining("it is not a regular file");
  }
}
