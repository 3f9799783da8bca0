package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.peers.hosts.Hosts.Host;
import io.coordl.store.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A host with the secret is a peer; a host that only recorded the peers' traffic is not. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerSecretTest {
  private static final String EXPECTED = "expected a file with mode 0600 that all hosts have";

  @TempDir Path directory;

  private static Certificate certificate(Path file) throws Exception {
    KeyStore store = PeerSecret.load(file);
    return store.getCertificate("peers");
  }

  private Path file(String secret) throws IOException {
    return TestSecret.file(directory, secret);
  }

  private static void refused(Path file, String why) {
    assertThatThrownBy(() -> PeerTls.ofSecret(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("peer.secret=" + file + " " + why)
        .hasMessageContaining(EXPECTED);
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("time left").isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  // ---- the file

  @Test
  void theSameSecretGivesTheSameKeyWithAnyLineEnding() throws Exception {
    Certificate ours = certificate(file(TestSecret.OURS));
    Path bare = Files.writeString(file("x"), TestSecret.OURS);
    Path windows = Files.writeString(file("x"), TestSecret.OURS + "\r\n");
    assertThat(certificate(bare)).isEqualTo(ours);
    assertThat(certificate(windows)).isEqualTo(ours);
    assertThat(certificate(file(TestSecret.THEIRS))).isNotEqualTo(ours);
    assertThat(certificate(file(TestSecret.OURS + "x"))).isNotEqualTo(ours);
  }

  /**
   * Hosts with other JDKs or releases of the agent must derive the same key; otherwise they reject
   * each other.
   */
  @Test
  void theKeyOfASecretNeverChanges() throws Exception {
    byte[] key = certificate(file(TestSecret.OURS)).getPublicKey().getEncoded();
    assertThat(Arrays.copyOfRange(key, key.length - 32, key.length))
        .asHexString()
        .isEqualTo("4F7B704D1E9F3D6D24A09FF9E5957D83ABAE41E6C200AF60E71B4B639F15974A");
  }

  @ParameterizedTest
  @CsvSource({"rw-r--r--, 0644", "rw-r-----, 0640", "rw----r--, 0604", "rw--w----, 0620"})
  void aFileThatOthersCanReadOrChangeIsRefused(String mode, String octal) throws Exception {
    Path file = file(TestSecret.OURS);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    refused(file, "has mode " + octal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"r--------", "rw-------", "rwx------"})
  void aPrivateFileIsAccepted(String mode) throws Exception {
    Path file = file(TestSecret.OURS);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    assertThat(PeerTls.ofSecret(file)).isNotNull();
  }

  @Test
  void aFileOfAnotherUserIsRefused() throws Exception {
    Assumptions.assumeTrue(
        System.getProperty("user.name").equals("root"),
        "only root can give a file to another user");
    Path file = file(TestSecret.OURS);
    Files.setAttribute(file, "unix:uid", 12345);
    refused(file, "belongs to another user (12345)");
  }

  @ParameterizedTest
  @CsvSource({
    "'', has 0 characters",
    "' \n', has 0 characters",
    "changeme, has 8 characters",
    "0123456789012345678901234567890, has 31 characters",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, has only 1 distinct character",
  })
  void aWeakSecretIsRefused(String secret, String why) throws Exception {
    refused(file(secret), why);
  }

  @Test
  void onlyARegularFileIsOpened() throws Exception {
    refused(directory.resolve("absent"), "does not exist");
    refused(directory, "is not a regular file");
    Path link = Files.createSymbolicLink(directory.resolve("link"), file(TestSecret.OURS));
    refused(link, "is a link");
    Path fifo = directory.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", "-m", "600", fifo.toString()).start().waitFor())
        .isZero();
    refused(fifo, "is not a regular file");
    refused(file("0123456789".repeat(500)), "has more than 4096 characters");
  }

  // ---- the connection

  private Hosts hosts(int count) throws IOException {
    Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours());
    for (int i = 0; i < count; i++) {
      hosts.add("16m");
    }
    return hosts;
  }

  @Test
  void withTheSameSecretEveryItemIsReadOnce() throws Exception {
    try (Hosts hosts = hosts(3)) {
      hosts.publishMembers();
      for (int i = 0; i < 3 * 50; i++) {
        hosts.host(i % 3).fetch(i / 3);
      }
      assertThat(hosts.reads()).isEqualTo(50);
      assertThat(hosts.logged).isEmpty();
    }
  }

  @Test
  void aPeerWithAnotherSecretGetsAndGivesNothing() throws Exception {
    SSLContext theirs = TestSecret.context(TestSecret.THEIRS);
    try (Hosts hosts = hosts(1);
        Hosts others = new Hosts(directory, Hosts.PATIENT, theirs)) {
      hosts.publishMembers();
      hosts.host(0).fetch(1);
      others.add("16m");
      others.addFake(hosts.host(0).server().address(), 1L << 60);
      others.publishMembers();
      for (int i = 0; i < 20; i++) {
        assertThat(others.host(0).fetch(i).outcome()).isEqualTo(Outcome.ADMITTED);
      }
      assertThat(others.reads()).isEqualTo(20);
      assertThat(hosts.host(0).store.items()).isEqualTo(1);
      await(() -> hosts.logged.size() == 1);
      assertThat(hosts.logged.get(0)).contains("did not authenticate as a peer");
    }
  }

  /** Alters a bit of one record, sends the record twice, or leaves it out; each record in turn. */
  @ParameterizedTest
  @ValueSource(strings = {"altered", "twice", "left out"})
  void anAnswerTamperedWithIsNotUsed(String how) throws Exception {
    try (Hosts owner = hosts(1)) {
      owner.publishMembers();
      owner.host(0).fetch(7);
      int tampered = 0;
      for (int record = 0; record < 12; record++) {
        int target = record;
        boolean[] there = new boolean[1];
        Wiretap.Change change =
            (number, bytes) -> {
              if (number != target) {
                return bytes;
              }
              there[0] = true;
              if (how.equals("left out")) {
                return new byte[0];
              }
              byte[] out =
                  Arrays.copyOf(bytes, how.equals("twice") ? 2 * bytes.length : bytes.length);
              if (how.equals("twice")) {
                System.arraycopy(bytes, 0, out, bytes.length, bytes.length);
              } else {
                out[bytes.length - 1] ^= 1;
              }
              return out;
            };
        try (Wiretap tap = new Wiretap(owner.host(0).server().address(), change);
            Hosts hosts = new Hosts(directory, Hosts.SHARP, TestSecret.ours())) {
          Host host = hosts.add("16m");
          hosts.addFake(tap.address(), 1L << 60);
          hosts.publishMembers();
          for (int i = 0; i < 3; i++) {
            host.fetch(7); // Also checks the bytes.
          }
          tampered += there[0] ? 1 : 0;
          if (there[0] && how.equals("altered")) {
            assertThat(host.faults() + tap.connections() - 1)
                .as("faults and new connections after record " + record)
                .isPositive();
          }
        }
      }
      assertThat(tampered).as("tampered records").isGreaterThan(4);
    }
  }

  @Test
  void aReplayedConversationIsRefused() throws Exception {
    byte[] recorded;
    try (Hosts owner = hosts(1)) {
      owner.publishMembers();
      try (Wiretap tap = new Wiretap(owner.host(0).server().address(), (number, bytes) -> bytes);
          Hosts hosts = hosts(1)) {
        hosts.addFake(tap.address(), 1L << 60);
        hosts.publishMembers();
        assertThat(hosts.host(0).fetch(3).outcome()).isEqualTo(Outcome.ADMITTED);
        recorded = tap.clientBytes();
      }
      assertThat(owner.host(0).store.items()).as("the conversation was a delivery").isEqualTo(1);
    }
    try (Hosts owner = hosts(1)) {
      owner.publishMembers();
      var address = owner.host(0).server().address();
      try (Socket replayed = new Socket(address.getAddress(), address.getPort())) {
        replayed.getOutputStream().write(recorded);
        replayed.getInputStream().transferTo(OutputStream.nullOutputStream());
      } catch (IOException e) {
        // The owner disconnected.
      }
      await(() -> owner.logged.size() == 1);
      assertThat(owner.logged.get(0)).contains("did not authenticate as a peer");
      assertThat(owner.host(0).store.items()).isZero();
    }
  }
}
