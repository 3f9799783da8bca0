package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Contents;
import io.coordl.host.Contents.Header;
import io.coordl.host.Liveness;
import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.peers.HostPort;
import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.TestSecret;
import io.coordl.peers.hosts.membership.Discovery;
import io.coordl.peers.hosts.membership.HostMembership;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that another job is setting up or owns; this JVM holds the other job's locks. */
class LateStoreTest {
  private static final long SETUP_BYTE = 1L << 60;
  private static final DecodedForm FORM = DecodedForm.of("pixels");

  @TempDir Path directory;
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private Path file;
  private FileChannel other;

  @BeforeEach
  void createUnfinishedFile() throws IOException {
    file = SharedFile.path(directory, Machine.user(), "g", ArenaContents.HERE);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    other = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** Closes after the store: closing a file drops this JVM's locks on it. */
  @AfterEach
  void close() throws IOException {
    other.close();
  }

  private ArenaStore open(String budget) throws IOException {
    return ArenaStore.openHost(directory, "g", ByteBudget.parse(budget), logged::add);
  }

  private static Outcome fetch(ArenaStore store) throws IOException {
    return store.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome();
  }

  @Test
  void whileAnotherJobSetsItUpTheStoreIsOpeningAndEmpty() throws Exception {
    Path item = Items.file(directory, "item", 1000);
    FileLock setup = other.lock(SETUP_BYTE, 1, false);
    try (ArenaStore store = open("4m")) {
      MinioCache raw = new MinioCache(store, path -> true);
      DecodedItem decoded = new DecodedStore(store, path -> true).item(item.toString());
      assertThat(store.isOpening()).isTrue();
      assertThat(fetch(store)).isEqualTo(Outcome.FULL);
      assertThat(store.isFull(1)).as("full for good").isFalse();
      assertThat(store.capacity()).isZero();
      assertThat(raw.isKept(item.toString())).as("nothing to prefetch").isTrue();
      assertThat(decoded.isKept(FORM)).isTrue();

      setup.release();
      store.awaitOpening();
      assertThat(store.isOpening()).isFalse();
      assertThat(raw.isKept(item.toString())).isFalse();
      assertThat(decoded.isKept(FORM)).isFalse();
      assertThat(fetch(store)).isEqualTo(Outcome.ADMITTED);
      assertThat(store.capacity()).isEqualTo(4 << 20);
    }
  }

  /** A host owns items in proportion to the capacity with which it joins, which never changes. */
  @Test
  void aHostJoinsWithItsStoresCapacityOnceTheStoreIsOpen() throws Exception {
    FileLock setup = other.lock(SETUP_BYTE, 1, false);
    CountDownLatch requested = new CountDownLatch(1);
    String name = "127.0.0.1:" + freePort();
    try (ArenaStore store = open("4m")) {
      HostMembership.Settings settings =
          new HostMembership.Settings(
              directory,
              "g",
              "g",
              Discovery.parse(List.of(name)),
              HostPort.parse(name),
              TestSecret.ours(),
              () -> {
                requested.countDown();
                return store.capacity();
              },
              variable -> null);
      try (HostMembership host = new HostMembership(settings, address -> () -> {}, logged::add)) {
        requested.await();
        assertThat(host.members()).isEmpty();

        setup.release();
        while (host.members().isEmpty()) {
          LockSupport.parkNanos(1_000_000);
        }
        assertThat(host.members()).singleElement().extracting(Member::capacity).isEqualTo(4L << 20);
      }
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void aStoreClosedWhileOpeningStopsOpening() throws Exception {
    FileLock setup = other.lock(SETUP_BYTE, 1, false);
    ArenaStore store = open("4m");
    store.close();
    store.awaitOpening();
    assertThat(store.isOpening()).isFalse();
    assertThat(store.isFull(1)).isTrue();
    setup.release();
    assertThat(fetch(store)).isEqualTo(Outcome.FULL);
    assertThat(file).isEmptyFile();
  }

  /** Creates a store of 4 MiB that belongs to another live job. */
  private FileLock createForAnotherJob() throws IOException {
    Files.delete(file);
    Path copy = directory.resolve("copy");
    try (ArenaStore store = open("4m")) {
      fetch(store);
      Files.copy(file, copy);
    }
    Files.move(copy, file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    other.close();
    other = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    return other.lock(SETUP_BYTE + 1, 1, false);
  }

  @ParameterizedTest
  @ValueSource(strings = {"4m", "auto", "5m"})
  void aJobThatJoinsAStoreLogsThatADifferentBudgetIsIgnored(String budget) throws IOException {
    FileLock alive = createForAnotherJob();
    try (ArenaStore store = open(budget)) {
      assertThat(store.capacity()).isEqualTo(4 << 20);
      assertThat(store.jobs()).isEqualTo(2);
      assertThat(fetch(store)).isEqualTo(Outcome.HIT);
    }
    if (budget.equals("5m")) {
      assertThat(logged)
          .containsExactly(
              "The store of group g was created with 4194304 bytes, which applies to all its jobs:"
                  + " this job's 5m is ignored.");
    } else {
      assertThat(logged).isEmpty();
    }
    assertThat(file).as("the other job's file").exists();
    alive.release();
  }

  /** Its budget is reduced, not ignored. */
  @Test
  void aJobThatCreatesAStoreLogsNoIgnoredBudget() throws IOException {
    Files.delete(file);
    try (ArenaStore store = open("1000t")) {
      assertThat(store.capacity()).isPositive();
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("it is reduced to"));
    }
  }

  @Test
  void jobNumbersAreUniqueUntilTheyRunOut() throws IOException {
    DirectMemory memory = new DirectMemory(1 << 20);
    ArenaStore.format(memory);
    assertThat(Contents.nextJob(memory)).isEqualTo(1);
    assertThat(Contents.nextJob(memory)).isEqualTo(2);
    memory.set(Header.JOBS, Liveness.MAX_JOB - 1);
    assertThat(Contents.nextJob(memory)).isEqualTo(Liveness.MAX_JOB);
    assertThat(Contents.nextJob(memory)).isZero();
  }
}
