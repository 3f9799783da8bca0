package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.Waits;
import io.coordl.items.ItemKey;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.Hosts.Host;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.MemoryShortage;
import io.coordl.store.Outcome;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine's guarantees that can be checked with hosts in one process. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostsEngineTest {
  private static final int ITEMS = 300;

  @TempDir Path directory;

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + Waits.LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("time left").isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Returns an item owned by this member in the hosts' ranking. */
  private static int itemOf(Hosts hosts, int member, int from) {
    Ranking ranking = new Ranking(hosts.host(0).membership.members);
    int number = from;
    while (ranking.first(PeerItems.key(number)) != member) {
      number++;
    }
    return number;
  }

  /** On each host, two threads fetch random items; then each fetches half of all items. */
  private static void epoch(Hosts hosts, int items, long seed) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < hosts.hosts.size() * 2; i++) {
      Host host = hosts.host(i / 2);
      SplittableRandom random = new SplittableRandom(seed + i);
      int half = i % 2;
      all.add(
          threads.submit(
              () -> {
                int[] order = random.ints(items, 0, items).toArray();
                for (int at = 0; at < items; at++) {
                  host.fetch(order[at]);
                }
                for (int number = half; number < items; number += 2) {
                  host.fetch(number);
                }
                return null;
              }));
    }
    for (Future<?> one : all) {
      one.get();
    }
    threads.shutdown();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7})
  void allHostsTogetherReadEachItemOnce(int count) throws Exception {
    try (Hosts hosts = Hosts.of(count, directory, "16m")) {
      for (int epoch = 0; epoch < 3; epoch++) {
        epoch(hosts, ITEMS, 100L * epoch);
      }
      for (int i = 0; i < ITEMS; i++) {
        assertThat(hosts.reads.get(i)).as("reads of item %d", i).isEqualTo(1);
      }
      assertThat(hosts.kept()).isEqualTo(ITEMS);
      for (Host host : hosts.hosts) {
        assertThat(host.store.items()).isPositive();
        assertThat(host.faults()).isZero();
      }
      assertThat(hosts.logged).isEmpty();
    }
  }

  @Test
  void theOwnerCachesAnItemAndServesItInOneRequest() throws Exception {
    try (Hosts hosts = Hosts.of(3, directory, "16m")) {
      int number = itemOf(hosts, 1, 0);
      assertThat(hosts.host(0).fetch(number).outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(hosts.host(1).store.items()).isEqualTo(1);
      assertThat(hosts.kept()).isEqualTo(1);
      assertThat(hosts.host(0).bytes(Answer.KEPT)).isEqualTo(PeerItems.length(number));
      assertThat(hosts.host(2).fetch(number).outcome()).isEqualTo(Outcome.PEER);
      assertThat(hosts.host(2).requests()).isEqualTo(1);
      assertThat(hosts.host(2).bytes(Answer.FOUND)).isEqualTo(PeerItems.length(number));
      assertThat(hosts.host(1).fetch(number).outcome()).isEqualTo(Outcome.HIT);
      assertThat(hosts.reads()).isEqualTo(1);
    }
  }

  /**
   * Fetches an item; returns the number of requests to other hosts, to find the item or to deliver
   * it.
   */
  private static long requests(Host host, int number) throws IOException {
    long before = host.requests();
    host.fetch(number);
    return host.requests() - before;
  }

  @Test
  void withSixtyFourHostsAFetchTakesAtMostThreeRequests() throws Exception {
    int count = 64;
    try (Hosts hosts = Hosts.of(count, directory, "1m")) {
      Ranking ranking = new Ranking(hosts.host(0).membership.members);
      for (int i = 0; i < ITEMS; i++) {
        int owner = ranking.first(PeerItems.key(i));
        int reader = i % count;
        // Each host must assume that it joined last, so it asks one other host even for an item of
        // its own.
        assertThat(requests(hosts.host(reader), i))
            .as("requests of host %d for a cold item of %d", reader, owner)
            .isLessThanOrEqualTo(owner == reader ? 1 : 2);
        assertThat(requests(hosts.host((i + 7) % count), i)).isLessThanOrEqualTo(1);
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);

      Host late = hosts.add("1m");
      hosts.publishMembers();
      for (int i = 0; i < ITEMS; i++) {
        assertThat(requests(late, i)).as("for cached items").isBetween(1L, 3L);
        assertThat(requests(hosts.host(i % count), i)).isLessThanOrEqualTo(3);
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
    }
  }

  @Test
  void ifAllHostsAreFullAMissQueriesOnlyTheCandidates() throws Exception {
    try (Hosts hosts = Hosts.of(12, directory, "1m")) {
      Host reader = hosts.host(0);
      int next = 0;
      while (reader.fetch(next).outcome() != Outcome.FULL) {
        next++;
      }
      for (int i = next; i < next + ITEMS; i++) {
        assertThat(requests(reader, i)).isLessThanOrEqualTo(HostsFetch.HOMES + 1);
      }
    }
  }

  @Test
  void ifAllHostsAreFullOnlyUncachedItemsAreReadFromStorage() throws Exception {
    int items = 900;
    try (Hosts hosts = Hosts.of(3, directory, "2m")) {
      epoch(hosts, items, 1);
      epoch(hosts, items, 2); // Now no host has room.
      boolean[] kept = new boolean[items];
      for (int i = 0; i < items; i++) {
        for (Host host : hosts.hosts) {
          assertThat(kept[i] && host.store.find(PeerItems.key(i)) != null)
              .as("item %d cached twice", i)
              .isFalse();
          kept[i] |= host.store.find(PeerItems.key(i)) != null;
        }
      }
      long before = hosts.reads();
      long expected = 0;
      for (int i = 0; i < items; i++) {
        expected += kept[i] ? 0 : 3;
        for (Host host : hosts.hosts) {
          host.fetch(i);
        }
      }
      assertThat(hosts.kept()).isPositive().isLessThan(items);
      assertThat(hosts.reads() - before).isEqualTo(expected);

      long[] requests = hosts.hosts.stream().mapToLong(Host::requests).toArray();
      long[] found = hosts.hosts.stream().mapToLong(host -> host.answers(Answer.FOUND)).toArray();
      for (int i = 0; i < items; i++) {
        for (Host host : hosts.hosts) {
          host.fetch(i);
        }
      }
      for (int i = 0; i < 3; i++) {
        Host host = hosts.host(i);
        long requested = host.requests() - requests[i];
        long answered = host.answers(Answer.FOUND) - found[i];
        assertThat(answered).isEqualTo(hosts.kept() - host.store.items());
        assertThat(requested - answered).as("requests that found nothing").isZero();
      }
    }
  }

  @Test
  void itemsRefusedDuringAMemoryShortageAreKeptAfterwards() throws Exception {
    int items = 40;
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      hosts.hosts.forEach(host -> MemoryShortage.set(host.store, true));
      for (int i = 0; i < items; i++) {
        assertThat(hosts.host(0).fetch(i).outcome()).isEqualTo(Outcome.FULL);
      }
      hosts.hosts.forEach(host -> MemoryShortage.set(host.store, false));
      for (int i = 0; i < items; i++) {
        assertThat(hosts.host(0).fetch(i).outcome()).isEqualTo(Outcome.ADMITTED);
      }
      assertThat(hosts.kept()).isEqualTo(items);
      assertThat(hosts.host(0).faults()).isZero();
    }
  }

  @Test
  void ifTheOwnerIsFullTheNextInRankKeepsTheItem() throws Exception {
    try (Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours())) {
      for (String budget : List.of("1m", "64m", "1m")) {
        hosts.add(budget).weight = 1;
      }
      hosts.publishMembers();
      int items = 2000;
      for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < items; i++) {
          hosts.host(i % 3).fetch(i);
        }
      }
      assertThat(hosts.reads()).isEqualTo(items);
      assertThat(hosts.kept()).isEqualTo(items);
      assertThat(hosts.host(0).store.items()).isLessThan(items / 6);
    }
  }

  @Test
  void concurrentReadersOfAnItemReadItOnce() throws Exception {
    try (Hosts hosts = Hosts.of(3, directory, "16m")) {
      ExecutorService threads = Executors.newFixedThreadPool(9);
      for (int number = 0; number < 50; number++) {
        int item = number;
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Fetched>> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
          Host host = hosts.host(i % 3);
          all.add(
              threads.submit(
                  () -> {
                    start.await();
                    return host.fetch(item);
                  }));
        }
        start.countDown();
        for (Future<Fetched> one : all) {
          one.get();
        }
        assertThat(hosts.reads.get(item)).isEqualTo(1);
      }
      threads.shutdown();
    }
  }

  // ---- an owner in trouble

  @Test
  void aDeadOwnersItemsAreReadAgainOnceAndFoundWhenItReturns() throws Exception {
    try (Hosts hosts = Hosts.of(3, directory, "16m")) {
      for (int i = 0; i < ITEMS; i++) {
        hosts.host(0).fetch(i);
      }
      long gone = hosts.host(1).store.items();
      hosts.host(1).stopServing();
      for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < ITEMS; i++) {
          hosts.host(0).fetch(i);
          hosts.host(2).fetch(i);
        }
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS + gone);
      assertThat(hosts.host(0).faults()).isEqualTo(1);
      await(() -> hosts.logged.size() == 2);
      assertThat(hosts.logged).allMatch(line -> line.contains("host2 does not answer"));

      hosts.host(1).serve();
      long kept = hosts.host(1).store.items();
      AtomicInteger next = new AtomicInteger(ITEMS);
      await(
          () -> {
            int fresh = itemOf(hosts, 1, next.get());
            next.set(fresh + 1);
            try {
              hosts.host(0).fetch(fresh);
            } catch (IOException e) {
              throw new AssertionError(e);
            }
            return hosts.host(1).store.items() > kept;
          });
      long before = hosts.reads();
      for (int i = 0; i < ITEMS; i++) {
        assertThat(hosts.host(0).fetch(i).outcome()).isIn(Outcome.HIT, Outcome.PEER);
      }
      assertThat(hosts.reads()).isEqualTo(before);
    }
  }

  @Test
  void aRestartedServerCostsNothing() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      for (int i = 0; i < ITEMS; i++) {
        hosts.host(0).fetch(i);
      }
      hosts.host(1).stopServing();
      hosts.host(1).serve();
      for (int i = 0; i < ITEMS; i++) {
        hosts.host(0).fetch(i);
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
      assertThat(hosts.host(0).faults()).isZero();
    }
  }

  @Test
  void aHostThatNeverAnswersIsWaitedForOnce() throws Exception {
    try (FakePeer fake = new FakePeer("127.0.0.9", (in, out) -> FakePeer.hang(in));
        Hosts hosts = new Hosts(directory, Hosts.SHARP, TestSecret.ours())) {
      hosts.add("16m");
      hosts.addFake(fake.address(), 64 << 20);
      hosts.publishMembers();
      for (int i = 0; i < ITEMS; i++) {
        assertThat(hosts.host(0).fetch(i).outcome()).isIn(Outcome.ADMITTED, Outcome.HIT);
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
      assertThat(hosts.host(0).answers(Answer.LATE)).isEqualTo(1);
      assertThat(hosts.host(0).faults()).isEqualTo(1);
    }
  }

  @Test
  void anAnswerThatHangsHalfwayIsLateToo() throws Exception {
    FakePeer.Behaviour behaviour =
        (in, out) -> {
          FakePeer.exchangeHellos(in, out);
          in.readNBytes(Wire.REQUEST_BYTES);
          out.writeInt(Wire.FOUND);
          out.writeInt(PeerItems.length(1));
          out.write(7);
          FakePeer.hang(in);
        };
    try (FakePeer fake = new FakePeer("127.0.0.9", behaviour);
        Hosts hosts = new Hosts(directory, Hosts.SHARP, TestSecret.ours())) {
      hosts.add("16m");
      hosts.addFake(fake.address(), 1L << 60);
      hosts.publishMembers();
      hosts.host(0).fetch(1);
      assertThat(hosts.host(0).answers(Answer.LATE)).isEqualTo(1);
      assertThat(hosts.reads()).isEqualTo(1);
    }
  }

  @Test
  void manySilentHostsCostAtMostTheAllowance() throws Exception {
    List<FakePeer> fakes = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, Hosts.SHARP, TestSecret.ours())) {
      hosts.add("16m");
      for (int i = 0; i < 8; i++) {
        FakePeer fake = new FakePeer("127.0.0." + (20 + i), (in, out) -> FakePeer.hang(in));
        fakes.add(fake);
        hosts.addFake(fake.address(), 16 << 20);
      }
      hosts.publishMembers();
      int fetched = 0;
      long late = 0;
      while (hosts.host(0).faults() < 8) {
        hosts.host(0).fetch(fetched++);
        long now = hosts.host(0).answers(Answer.LATE);
        assertThat(now - late).as("late answers in a fetch of 500 ms").isLessThanOrEqualTo(2);
        late = now;
      }
      assertThat(hosts.reads()).isEqualTo(fetched);
    } finally {
      for (FakePeer fake : fakes) {
        fake.close();
      }
    }
  }

  @Test
  void aTruncatedAnswerIsNotUsed() throws Exception {
    FakePeer.Behaviour behaviour =
        (in, out) -> {
          FakePeer.exchangeHellos(in, out);
          in.readNBytes(Wire.REQUEST_BYTES);
          out.writeInt(Wire.FOUND);
          out.writeInt(PeerItems.length(1));
          out.write(PeerItems.content(1), 0, PeerItems.length(1) - 1);
        };
    try (FakePeer fake = new FakePeer("127.0.0.9", behaviour);
        Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours())) {
      hosts.add("16m");
      hosts.addFake(fake.address(), 1L << 60);
      hosts.publishMembers();
      assertThat(hosts.host(0).fetch(1).outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(hosts.host(0).answers(Answer.FAILED)).isEqualTo(1);
      assertThat(hosts.reads()).isEqualTo(1);
    }
  }

  @Test
  void anIncompatiblePeerIsIgnoredAndLoggedOnce() throws Exception {
    List<byte[]> hellos =
        List.of(
            FakePeer.hello(Wire.MAGIC, Wire.VERSION + 1, PeerItems.GROUP),
            FakePeer.hello(Wire.MAGIC, Wire.VERSION, "other"),
            "HTTP/1.1 400 Bad Request\r\n\r\n<html></html>".getBytes(StandardCharsets.US_ASCII));
    List<String> reasons =
        List.of("speaks version 3, not 2", "belongs to group other, not test", "not speak");
    for (int i = 0; i < hellos.size(); i++) {
      byte[] hello = hellos.get(i);
      FakePeer.Behaviour behaviour =
          (in, out) -> {
            out.write(hello);
            FakePeer.hang(in);
          };
      try (FakePeer fake = new FakePeer("127.0.0.9", behaviour);
          Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours())) {
        hosts.add("16m");
        hosts.addFake(fake.address(), 1L << 60);
        hosts.publishMembers();
        for (int number = 0; number < 50; number++) {
          hosts.host(0).fetch(number);
        }
        await(() -> fake.connections.get() >= 5); // It is retried again and again.
        assertThat(hosts.logged).hasSize(1);
        assertThat(hosts.logged.get(0)).contains("fake0").contains(reasons.get(i));
        assertThat(hosts.host(0).answers(Answer.FAILED)).isEqualTo(1);
        assertThat(hosts.reads()).isEqualTo(50);
      }
    }
  }

  @Test
  void anIncompatibleClientIsLoggedAndDisconnected() throws Exception {
    try (Hosts hosts = Hosts.of(1, directory, "16m")) {
      InetSocketAddress address = hosts.host(0).server().address();
      for (byte[] hello :
          List.of(
              FakePeer.hello(Wire.MAGIC, Wire.VERSION + 1, PeerItems.GROUP),
              FakePeer.hello(Wire.MAGIC, Wire.VERSION + 1, PeerItems.GROUP),
              FakePeer.hello(Wire.MAGIC, Wire.VERSION, "other"))) {
        try (Socket socket = connect(address)) {
          socket.getOutputStream().write(hello);
          assertThat(socket.getInputStream().readAllBytes()).isEqualTo(Wire.hello(PeerItems.GROUP));
        }
      }
      await(() -> hosts.logged.size() == 1);
      assertThat(hosts.logged.get(0)).contains("version 3").contains("127.0.0.1");
    }
  }

  // ---- joining

  @Test
  void aLateHostCausesNoSecondReadAndTakesItsShareOfNewItems() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      for (int i = 0; i < ITEMS; i++) {
        hosts.host(i % 2).fetch(i);
      }
      Host late = hosts.add("16m");
      hosts.publishMembers();
      for (int i = 0; i < ITEMS; i++) {
        for (Host host : hosts.hosts) {
          assertThat(host.fetch(i).outcome()).isIn(Outcome.HIT, Outcome.PEER);
        }
      }
      assertThat(hosts.reads()).isEqualTo(ITEMS);
      long requests = late.requests();
      for (int i = 0; i < ITEMS; i++) {
        late.fetch(i);
      }
      assertThat(late.requests() - requests).as("locations are known").isEqualTo(ITEMS);
      for (int i = ITEMS; i < 2 * ITEMS; i++) {
        hosts.host(0).fetch(i);
      }
      assertThat(late.store.items()).isBetween(ITEMS / 6L, ITEMS / 2L);
      assertThat(hosts.reads()).isEqualTo(2 * ITEMS);
    }
  }

  @Test
  void aHostWithoutPeersWorksAlone() throws Exception {
    try (Hosts hosts = new Hosts(directory, Hosts.PATIENT, TestSecret.ours())) {
      hosts.add("16m");
      hosts.add("16m");
      hosts.host(0).fetch(1);
      assertThat(hosts.host(0).store.items()).isEqualTo(1);
      hosts.publishMembers();
      assertThat(hosts.host(1).fetch(1).outcome()).isEqualTo(Outcome.PEER);
      assertThat(hosts.reads()).isEqualTo(1);
    }
  }

  @Test
  void theFirstFetchWaitsForTheAwaitedHosts() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m");
        ArenaStore store =
            ArenaStore.openProcess(directory, ByteBudget.parse("4m"), hosts.logged::add)) {
      KnownMembers membership = new KnownMembers("host9");
      try (HostsEngine engine =
          new HostsEngine(
              store,
              membership,
              TestSecret.ours(),
              2,
              PeerItems.GROUP,
              (a, b, c, d, e) -> {},
              hosts.logged::add,
              Timeouts.USUAL)) {
        hosts.host(0).fetch(5);
        AtomicInteger done = new AtomicInteger();
        Thread reader =
            new Thread(
                () -> {
                  try {
                    Fetched fetched =
                        engine.fetch(PeerItems.key(5), PeerItems.length(5), hosts.loader(5));
                    Hosts.check(5, fetched.content());
                    done.set(1);
                  } catch (IOException e) {
                    done.set(2);
                  }
                });
        reader.start();
        await(() -> reader.getState() == Thread.State.TIMED_WAITING);
        membership.members = hosts.host(0).membership.members;
        reader.join();
        assertThat(done).hasValue(1);
        assertThat(hosts.reads()).isEqualTo(1);
        assertThat(hosts.logged).isEmpty();
      }
    }
  }

  @Test
  void missingHostsAreWaitedForOnceAndThatIsLogged() throws Exception {
    List<String> logged = new ArrayList<>();
    AtomicInteger loads = new AtomicInteger();
    try (ArenaStore store = ArenaStore.openProcess(directory, ByteBudget.parse("4m"), logged::add);
        HostsEngine engine =
            new HostsEngine(
                store,
                new KnownMembers("host9"),
                TestSecret.ours(),
                4,
                PeerItems.GROUP,
                (a, b, c, d, e) -> {},
                logged::add,
                Hosts.SHARP)) {
      for (int i = 0; i < 10; i++) {
        engine.fetch(
            PeerItems.key(i), PeerItems.length(i), (target, at) -> loads.incrementAndGet() > 0);
      }
      assertThat(loads).hasValue(10);
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("0 of 4 hosts joined"));
    }
  }

  /** The time limit for missing hosts covers all calls together, even if each is interrupted. */
  @Test
  void interruptedCallsShareOneWait() throws Exception {
    List<String> logged = new ArrayList<>();
    try (ArenaStore store = ArenaStore.openProcess(directory, ByteBudget.parse("4m"), logged::add);
        HostsEngine engine =
            new HostsEngine(
                store,
                new KnownMembers("host9"),
                TestSecret.ours(),
                4,
                PeerItems.GROUP,
                (a, b, c, d, e) -> {},
                logged::add,
                Hosts.SHARP)) {
      Thread.currentThread().interrupt();
      engine.fetch(PeerItems.key(0), PeerItems.length(0), (target, at) -> true);
      long begun = System.nanoTime();
      while (System.nanoTime() - begun <= Hosts.SHARP.hosts().toNanos()) {
        Thread.onSpinWait();
      }
      engine.fetch(PeerItems.key(1), PeerItems.length(1), (target, at) -> true);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("0 of 4 hosts joined"));
    }
  }

  // ---- the program's loader, and its thread

  @Test
  void aChangedItemIsNotKeptAndCanBeReadAgain() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      for (int owner = 0; owner < 2; owner++) {
        int number = itemOf(hosts, owner, 0);
        Fetched changed =
            hosts
                .host(0)
                .engine
                .fetch(PeerItems.key(number), PeerItems.length(number), (to, at) -> false);
        assertThat(changed).isEqualTo(new Fetched(Outcome.CHANGED, null));
        assertThat(hosts.kept()).isEqualTo(owner);
        assertThat(hosts.host(1).fetch(number).outcome()).isEqualTo(Outcome.ADMITTED);
        assertThat(hosts.host(0).answers(Answer.FAILED)).isZero();
      }
      assertThat(hosts.reads()).isEqualTo(2);
    }
  }

  @Test
  void anExceptionOfTheLoaderReachesTheProgramUnchanged() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      int number = itemOf(hosts, 1, 0);
      for (Throwable thrown :
          List.of(new FileNotFoundException("gone"), new Error("own"), new ClassCastException())) {
        assertThatThrownBy(
                () ->
                    hosts
                        .host(0)
                        .engine
                        .fetch(
                            PeerItems.key(number),
                            PeerItems.length(number),
                            (target, at) -> {
                              if (thrown instanceof IOException e) {
                                throw e;
                              }
                              if (thrown instanceof Error e) {
                                throw e;
                              }
                              throw (RuntimeException) thrown;
                            }))
            .isSameAs(thrown);
      }
      assertThat(hosts.host(0).fetch(number).outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(hosts.host(1).store.items()).isEqualTo(1);
      assertThat(hosts.host(0).faults()).isZero();
    }
  }

  @Test
  void anInterruptedThreadIsServedAndStaysInterrupted() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      Thread.currentThread().interrupt();
      for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < 50; i++) {
          assertThat(hosts.host(0).fetch(i).content()).isNotNull();
          assertThat(Thread.currentThread().isInterrupted()).isTrue();
        }
      }
      assertThat(Thread.interrupted()).isTrue();
      assertThat(hosts.reads()).isEqualTo(50);
      assertThat(hosts.host(0).faults()).isZero();
    }
  }

  // ---- claims

  private static Socket connect(InetSocketAddress address) throws IOException {
    return PeerTls.over(
        TestSecret.ours(), new Socket(address.getAddress(), address.getPort()), true);
  }

  /** Returns a raw client that claims an item. */
  private static Socket claim(Hosts hosts, int owner, int number) throws IOException {
    InetSocketAddress address = hosts.host(owner).server().address();
    Socket socket = connect(address);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    out.write(Wire.hello(PeerItems.GROUP));
    in.readNBytes(Wire.hello(PeerItems.GROUP).length);
    byte[] request = new byte[Wire.REQUEST_BYTES];
    Wire.putRequest(request, Wire.CLAIM, PeerItems.key(number), PeerItems.length(number));
    out.write(request);
    assertThat(in.readInt()).isEqualTo(Wire.GRANTED);
    assertThat(in.readInt()).isZero();
    return socket;
  }

  @Test
  void aDeadClaimantLosesItsClaimImmediately() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      int number = itemOf(hosts, 1, 0);
      ExecutorService threads = Executors.newSingleThreadExecutor();
      for (int sent = 0; sent < 3; sent++) {
        int item = itemOf(hosts, 1, number + 1);
        number = item;
        Future<Fetched> waiting;
        try (Socket claimant = claim(hosts, 1, item)) {
          if (sent > 0) {
            DataOutputStream out = new DataOutputStream(claimant.getOutputStream());
            out.writeInt(Wire.BYTES);
            out.write(new byte[sent == 1 ? 0 : PeerItems.length(item) - 1]);
          }
          waiting = threads.submit(() -> hosts.host(0).fetch(item));
          await(() -> hosts.host(0).answers(Answer.ABSENT) > 0);
        }
        assertThat(waiting.get().outcome()).isEqualTo(Outcome.ADMITTED);
        assertThat(hosts.reads.get(item)).isEqualTo(1);
      }
      threads.shutdown();
    }
  }

  @Test
  void aSilentClaimantLosesItsClaim() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m", Hosts.SHARP)) {
      int number = itemOf(hosts, 1, 0);
      try (Socket claimant = claim(hosts, 1, number)) {
        assertThat(claimant.getInputStream().read()).as("the owner disconnects").isEqualTo(-1);
        await(() -> !hosts.host(1).store.isAwaited(PeerItems.key(number)));
      }
    }
  }

  @Test
  void aClaimantOnSlowStorageKeepsItsClaim() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m", Hosts.SHARP)) {
      int number = itemOf(hosts, 1, 0);
      CountDownLatch reading = new CountDownLatch(1);
      Fetched fetched =
          hosts
              .host(0)
              .engine
              .fetch(
                  PeerItems.key(number),
                  PeerItems.length(number),
                  (target, at) -> {
                    // Far longer than an owner waits without a heartbeat.
                    long end = System.nanoTime() + 3 * Hosts.SHARP.claimant().toNanos();
                    while (System.nanoTime() - end < 0) {
                      LockSupport.parkNanos(1_000_000);
                      assertThat(hosts.host(1).store.isAwaited(PeerItems.key(number))).isTrue();
                    }
                    reading.countDown();
                    return hosts.loader(number).load(target, at);
                  });
      assertThat(reading.getCount()).isZero();
      assertThat(fetched.outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(hosts.host(1).store.items()).isEqualTo(1);
    }
  }

  @Test
  void waitersForAClaimGetTheClaimantsBytes() throws Exception {
    try (Hosts hosts = Hosts.of(3, directory, "16m")) {
      int number = itemOf(hosts, 2, 0);
      CountDownLatch claimed = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      ExecutorService threads = Executors.newCachedThreadPool();
      Future<Fetched> claimant =
          threads.submit(
              () ->
                  hosts
                      .host(0)
                      .engine
                      .fetch(
                          PeerItems.key(number),
                          PeerItems.length(number),
                          (target, at) -> {
                            claimed.countDown();
                            try {
                              go.await();
                            } catch (InterruptedException e) {
                              throw new AssertionError(e);
                            }
                            return hosts.loader(number).load(target, at);
                          }));
      claimed.await();
      Future<Fetched> remote = threads.submit(() -> hosts.host(1).fetch(number));
      Future<Fetched> owner = threads.submit(() -> hosts.host(2).fetch(number));
      await(() -> hosts.host(1).answers(Answer.ABSENT) > 0);
      go.countDown();
      assertThat(claimant.get().outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(remote.get().outcome()).isEqualTo(Outcome.PEER);
      assertThat(owner.get().outcome()).isEqualTo(Outcome.HIT);
      assertThat(hosts.reads()).isEqualTo(1);
      threads.shutdown();
    }
  }

  // ---- closing

  @Test
  void closingLeavesNothingBehind() throws Exception {
    try (Hosts hosts = Hosts.of(3, directory, "16m")) {
      epoch(hosts, 100, 1);
    }
    await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("coordl-peer-")));
  }

  @Test
  void allThreadsAreDaemonsWithOurPrefix() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      epoch(hosts, 20, 1);
      List<Thread> ours =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().startsWith("coordl-peer-"))
              .toList();
      assertThat(ours).allMatch(Thread::isDaemon);
      assertThat(ours.stream().map(Thread::getName).distinct())
          .containsExactlyInAnyOrder(
              "coordl-peer-accept", "coordl-peer-serve", "coordl-peer-watch", "coordl-peer-tend");
    }
  }

  @Test
  void aClosedEngineStillReadsStorage() throws Exception {
    try (Hosts hosts = Hosts.of(2, directory, "16m")) {
      hosts.host(0).engine.close();
      for (int i = 0; i < 20; i++) {
        assertThat(hosts.host(0).fetch(i).content()).isNotNull();
      }
      assertThat(hosts.host(0).requests()).isZero();
      assertThat(hosts.host(0).membership.closed).isTrue();
    }
  }

  @Test
  void aServerThatCannotListenIsReported() throws Exception {
    List<String> logged = new ArrayList<>();
    try (ArenaStore store = ArenaStore.openProcess(directory, ByteBudget.parse("4m"), logged::add);
        PeerServer first =
            new PeerServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                store,
                TestSecret.ours(),
                PeerItems.GROUP,
                logged::add,
                Hosts.SHARP)) {
      assertThatThrownBy(
              () ->
                  new PeerServer(
                      first.address(),
                      store,
                      TestSecret.ours(),
                      PeerItems.GROUP,
                      logged::add,
                      Hosts.SHARP))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("127.0.0.1:" + first.address().getPort());
      assertThatThrownBy(
              () ->
                  new PeerServer(
                      InetSocketAddress.createUnresolved("no.such.host", 1),
                      store,
                      TestSecret.ours(),
                      PeerItems.GROUP,
                      logged::add,
                      Hosts.SHARP))
          .hasMessageContaining("no.such.host:1");
      assertThat(logged).isEmpty();
    }
  }

  /** Returns a client that has requested an item but can receive little of it. */
  private static Socket find(Host host, ItemKey key, int length) throws IOException {
    Socket plain = new Socket();
    plain.setReceiveBufferSize(4096);
    plain.connect(host.server().address());
    Socket socket = PeerTls.over(TestSecret.ours(), plain, true);
    byte[] request = new byte[Wire.REQUEST_BYTES];
    Wire.putRequest(request, Wire.FIND, key, length);
    socket.getOutputStream().write(Wire.hello(PeerItems.GROUP));
    socket.getOutputStream().write(request);
    return socket;
  }

  /** Returns the length that the server announces; -1 if it disconnected first. */
  private static int lengthFound(DataInputStream in) throws IOException {
    int status;
    int length;
    try {
      in.readNBytes(Wire.hello(PeerItems.GROUP).length);
      status = in.readInt();
      length = in.readInt();
    } catch (IOException e) {
      return -1;
    }
    assertThat(status).isEqualTo(Wire.FOUND);
    return length;
  }

  @Test
  void aClientThatDoesNotReadIsDisconnected() throws Exception {
    try (Hosts hosts = Hosts.of(1, directory, "64m", Hosts.SHARP)) {
      Host host = hosts.host(0);
      byte[] large = new byte[Wire.MAX_ITEM_BYTES];
      ItemKey key = ItemKey.of("/large", large.length, 0, -1);
      host.store.fetch(key, large.length, (target, at) -> true);
      int found = -1;
      // On a busy machine the server may disconnect before this thread reads its answer.
      while (found < 0) {
        try (Socket socket = find(host, key, large.length)) {
          DataInputStream in = new DataInputStream(socket.getInputStream());
          found = lengthFound(in);
          await(
              () ->
                  Thread.getAllStackTraces().keySet().stream()
                      .noneMatch(thread -> thread.getName().equals("coordl-peer-serve")));
          long taken = 0;
          try {
            taken = in.transferTo(OutputStream.nullOutputStream());
          } catch (IOException e) {
            // Reset: bytes in flight are lost too.
          }
          assertThat(taken).isLessThan(large.length);
        }
      }
      assertThat(found).isEqualTo(large.length);
    }
  }
}
