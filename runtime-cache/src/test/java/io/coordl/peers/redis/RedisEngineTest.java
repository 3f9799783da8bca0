package io.coordl.peers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.Waits;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.Timeouts;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.ItemStore;
import io.coordl.store.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Protocol.Command;

/** Runs the engine with servers of Debian's package redis-server. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RedisEngineTest {
  private static final String GROUP = "test";

  /** For tests in which no server hangs, so that a busy machine causes no fault. */
  private static final Duration ENDLESS = Duration.ofMinutes(1);

  @TempDir Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<String> logged = Collections.synchronizedList(new ArrayList<>());
  private final ConcurrentLinkedQueue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final AtomicInteger reads = new AtomicInteger();
  private Timeouts timeouts = RedisServer.patience(ENDLESS);

  @AfterEach
  void closeAll() throws Exception {
    Collections.reverse(open);
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private RedisServer server(String... arguments) throws IOException {
    RedisServer server = RedisServer.start(directory, arguments);
    open.add(server);
    return server;
  }

  private RedisEngine engine(ItemStore local, SSLContext tls, RedisUri... seeds) {
    RedisEngine engine =
        new RedisEngine(
            List.of(seeds),
            tls,
            local,
            GROUP,
            (peer, start, end, bytes, answer) -> answers.add(answer),
            logged::add,
            timeouts);
    open.add(engine);
    return engine;
  }

  /** Returns a connected engine of a host without room. */
  private RedisEngine engine(RedisServer server) {
    RedisEngine engine = engine(new FullStore(), null, server.uri());
    await(engine.servers::up);
    return engine;
  }

  private ArenaStore store() {
    ArenaStore store = ArenaStore.openProcess(directory, ByteBudget.parse("16m"), logged::add);
    open.add(store);
    return store;
  }

  private static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + Waits.LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("time left").isLessThan(deadline);
      LockSupport.parkNanos(2_000_000);
    }
  }

  private Fetched fetch(RedisEngine engine, TestItem item) throws IOException {
    return engine.fetch(item.key(), item.length(), item.loader(reads));
  }

  private void assertFetched(RedisEngine engine, TestItem item, Outcome outcome)
      throws IOException {
    Fetched fetched = fetch(engine, item);
    assertThat(fetched.outcome()).isEqualTo(outcome);
    assertThat(fetched.content().isReadOnly()).isTrue();
    assertThat(TestItem.bytes(fetched.content())).isEqualTo(item.content());
  }

  private void assertBypassed(RedisEngine engine, TestItem item) throws IOException {
    assertThat(fetch(engine, item)).isEqualTo(new Fetched(Outcome.FULL, null));
  }

  private static byte[] key(TestItem item) {
    return RedisItem.key(GROUP, item.key());
  }

  // ---- items

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 4000, 8176, 8180, 8192, 112_640, 1 << 20, 8 << 20})
  void anItemReadByOneHostComesFromRedisOnTheOther(int length) throws Exception {
    RedisServer server = server();
    TestItem item = new TestItem(length, length);

    assertFetched(engine(server), item, Outcome.ADMITTED);
    assertFetched(engine(server), item, Outcome.PEER);
    assertThat(reads).hasValue(1);
    assertThat(answers).containsExactly(Answer.ABSENT, Answer.KEPT, Answer.FOUND);
    assertThat(logged).isEmpty();
  }

  @Test
  void theHostsOwnStoreComesFirst() throws Exception {
    RedisServer server = server();
    RedisEngine one = engine(store(), null, server.uri());
    RedisEngine other = engine(store(), null, server.uri());
    await(() -> one.servers.up() && other.servers.up());
    TestItem item = new TestItem(1, 100_000);

    assertFetched(one, item, Outcome.ADMITTED);
    assertFetched(one, item, Outcome.HIT);
    assertFetched(other, item, Outcome.PEER);
    assertFetched(other, item, Outcome.HIT);
    assertThat(reads).hasValue(1);
    assertThat(answers).containsExactly(Answer.ABSENT, Answer.KEPT, Answer.FOUND);
  }

  @Test
  void groupsHaveSeparateItems() throws Exception {
    RedisServer server = server();
    TestItem item = new TestItem(1, 1000);
    assertFetched(engine(server), item, Outcome.ADMITTED);

    assertThat(server.ask(Command.EXISTS, (Object) RedisItem.key("test2", item.key())))
        .isEqualTo(0L);
    assertThat(server.ask(Command.EXISTS, (Object) key(item))).isEqualTo(1L);
    assertThat(new String(key(item), StandardCharsets.UTF_8)).matches("coordl:1:test:[0-9a-f]{32}");
  }

  @Test
  void anItemExpiresAWeekAfterItWasWritten() throws Exception {
    RedisServer server = server();
    TestItem item = new TestItem(1, 1000);
    assertFetched(engine(server), item, Outcome.ADMITTED);

    assertThat((Long) server.ask(Command.PTTL, (Object) key(item)))
        .isBetween(RedisEngine.LIFETIME.toMillis() - 600_000, RedisEngine.LIFETIME.toMillis());
  }

  @Test
  void oneOfManyThreadsReadsAnItem() throws Exception {
    RedisServer server = server();
    List<RedisEngine> hosts = List.of(engine(server), engine(server));
    int threads = 8;
    int items = 100;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    open.add(pool::shutdownNow);
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      RedisEngine engine = hosts.get(t % 2);
      futures.add(
          pool.submit(
              () -> {
                for (int i = 0; i < items; i++) {
                  TestItem item = new TestItem(i, 20_000);
                  Fetched fetched = fetch(engine, item);
                  assertThat(TestItem.bytes(fetched.content())).isEqualTo(item.content());
                }
                return null;
              }));
    }
    for (Future<?> future : futures) {
      future.get();
    }

    assertThat(reads).hasValue(items);
    assertThat(logged).isEmpty();
  }

  // ---- claims

  @Test
  void aFailedReadReleasesItsClaim() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem item = new TestItem(1, 1000);

    assertThatThrownBy(
            () ->
                engine.fetch(
                    item.key(),
                    item.length(),
                    (target, offset) -> {
                      assertThat(RedisItem.isClaim((byte[]) server.ask(Command.GET, key(item))))
                          .isTrue();
                      assertThat((Long) server.ask(Command.PTTL, (Object) key(item)))
                          .isBetween(1L, RedisEngine.LEASE.toMillis());
                      throw new IOException("read error");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("read error");
    assertThat(server.ask(Command.EXISTS, (Object) key(item))).isEqualTo(0L);
    assertThat(engine.fetch(item.key(), item.length(), (target, offset) -> false))
        .isEqualTo(new Fetched(Outcome.CHANGED, null));
    assertThat(server.ask(Command.EXISTS, (Object) key(item))).isEqualTo(0L);
    assertFetched(engine, item, Outcome.ADMITTED);
  }

  @Test
  void aDeadHostsClaimExpires() throws Exception {
    RedisServer server = server();
    TestItem item = new TestItem(1, 1000);
    RedisEngine engine = engine(server);
    server.ask(Command.SET, key(item), RedisItem.claim(7, 7), "PX", "300");

    assertFetched(engine, item, Outcome.ADMITTED);
    assertThat(reads).hasValue(1);
  }

  @Test
  void aHostThatWaitsTooLongReadsStorageAndTheClaimStays() throws Exception {
    RedisServer server = server();
    TestItem item = new TestItem(1, 1000);
    RedisEngine full = engine(server);
    RedisEngine host = engine(store(), null, server.uri());
    await(host.servers::up);
    byte[] claim = RedisItem.claim(7, 7);
    server.ask(Command.SET, key(item), claim);

    assertBypassed(full, item);
    assertFetched(host, item, Outcome.ADMITTED);
    assertThat(server.ask(Command.GET, (Object) key(item))).isEqualTo(claim);
    assertThat(logged).isEmpty();
  }

  @Test
  void anInterruptedThreadDoesNotWaitAndStaysInterrupted() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem claimed = new TestItem(1, 1000);
    server.ask(Command.SET, key(claimed), RedisItem.claim(7, 7));
    Thread.currentThread().interrupt();
    try {
      assertBypassed(engine, claimed);
      assertFetched(engine, new TestItem(2, 1000), Outcome.ADMITTED);
      assertFetched(engine, new TestItem(2, 1000), Outcome.PEER);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  // ---- wrong values

  @Test
  void aDamagedItemIsReadFromStorageAndRewritten() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    for (int at : new int[] {0, 5, 9, RedisItem.HEADER_BYTES, 9_000}) {
      TestItem item = new TestItem(at, 10_000);
      assertFetched(engine, item, Outcome.ADMITTED);
      server.ask(Command.SETRANGE, key(item), Integer.toString(at), "damage");
      assertFetched(engine, item, Outcome.ADMITTED);
      assertFetched(engine, item, Outcome.PEER);
    }
    assertThat(reads).hasValue(10);
    assertThat(logged).singleElement().asString().contains("damaged item");
  }

  @Test
  void anotherItemsValueIsNotMistakenForThisOne() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem one = new TestItem(1, 10_000);
    TestItem other = new TestItem(2, 10_000);
    assertFetched(engine, one, Outcome.ADMITTED);
    server.ask(Command.SET, key(other), server.ask(Command.GET, (Object) key(one)));

    assertFetched(engine, other, Outcome.ADMITTED);
    assertFetched(engine, other, Outcome.PEER);
    assertThat(logged).hasSize(1);
  }

  @Test
  void foreignValuesAreNotItems() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem list = new TestItem(1, 1000);
    TestItem text = new TestItem(2, 1000);
    TestItem large = new TestItem(3, 1000);
    server.ask(Command.LPUSH, key(list), "a");
    server.ask(Command.SET, key(text), "a");
    server.ask(Command.SET, key(large), new byte[1 << 20]);

    for (TestItem item : List.of(list, text, large)) {
      assertFetched(engine, item, Outcome.ADMITTED);
      assertFetched(engine, item, Outcome.PEER);
    }
    assertThat(logged).hasSize(1);
  }

  // ---- full

  @Test
  void aFullRedisKeepsItsItemsAndGetsNoMore() throws Exception {
    RedisServer server = server("--maxmemory", "6mb", "--maxmemory-policy", "noeviction");
    RedisEngine engine = engine(server);
    int items = 80;
    int kept = 0;
    for (int i = 0; i < items; i++) {
      Fetched fetched = fetch(engine, new TestItem(i, 100_000));
      kept += fetched.outcome() == Outcome.ADMITTED ? 1 : 0;
      assertThat(fetched.outcome()).isIn(Outcome.ADMITTED, Outcome.FULL);
    }
    assertThat(kept).isBetween(20, 60);
    for (int i = 0; i < kept; i++) {
      assertFetched(engine, new TestItem(i, 100_000), Outcome.PEER);
    }
    assertThat(logged).singleElement().asString().contains("is full");
    assertThat(answers.stream().filter(a -> a == Answer.FAILED)).hasSize(1);

    RedisEngine host = engine(store(), null, server.uri());
    await(host.servers::up);
    assertFetched(host, new TestItem(items, 100_000), Outcome.ADMITTED);
    assertFetched(host, new TestItem(items, 100_000), Outcome.HIT);
  }

  @Test
  void aServerThatEvictsIsUsedAndLogged() throws Exception {
    RedisServer server = server("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru");
    RedisEngine engine = engine(server);

    await(() -> !logged.isEmpty());
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    assertThat(logged).singleElement().asString().contains("evicts");
  }

  @Test
  void aServerWithAnUnknownEvictionPolicyIsUsedAndLogged() throws Exception {
    RedisServer server = server("--rename-command", "INFO", "");
    RedisEngine engine = engine(server);

    await(() -> !logged.isEmpty());
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    assertThat(logged).singleElement().asString().contains("does not report its maxmemory-policy");
  }

  // ---- faults

  @Test
  void aKilledServerIsSkippedAndUsedAgainOnceItIsBack() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem item = new TestItem(1, 1000);
    assertFetched(engine, item, Outcome.ADMITTED);

    server.kill();
    for (int i = 0; i < 1000; i++) {
      assertBypassed(engine, item);
    }
    assertThat(answers).containsExactly(Answer.ABSENT, Answer.KEPT, Answer.FAILED);
    assertThat(logged).singleElement().asString().contains("is not used until it answers again");

    server.restart();
    await(engine.servers::up);
    assertFetched(engine, item, Outcome.ADMITTED);
    assertFetched(engine, item, Outcome.PEER);
    assertThat(logged).hasSize(1);
  }

  @Test
  void aServerThatStartsLateIsUsedOnceItIsUp() throws Exception {
    RedisServer server = server();
    server.kill();
    RedisEngine engine = engine(new FullStore(), null, server.uri());
    TestItem item = new TestItem(1, 1000);
    assertBypassed(engine, item);
    await(() -> !logged.isEmpty());

    server.restart();
    await(engine.servers::up);
    assertFetched(engine, item, Outcome.ADMITTED);
    assertThat(logged).singleElement().asString().contains("is not reachable yet");
  }

  @Test
  void aHungServerIsWaitedForOnce() throws Exception {
    timeouts = Timeouts.USUAL;
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem item = new TestItem(1, 1000);
    assertFetched(engine, item, Outcome.ADMITTED);
    answers.clear();

    server.hang();
    try {
      for (int i = 0; i < 1000; i++) {
        assertBypassed(engine, item);
      }
      assertThat(answers).containsExactly(Answer.LATE);
      assertThat(logged).singleElement().asString().contains("no answer within 400 ms");
    } finally {
      server.resume();
    }
    await(engine.servers::up);
    assertFetched(engine, item, Outcome.PEER);
    assertThat(logged).hasSize(1);
  }

  @Test
  void aBlockedWriteTimesOut() throws Exception {
    timeouts = Timeouts.USUAL;
    RedisServer server = server();
    RedisEngine engine = engine(server);
    int eightMegabytes = 8 << 20;
    TestItem item = new TestItem(1, eightMegabytes);
    try {
      Fetched fetched =
          engine.fetch(
              item.key(),
              item.length(),
              (target, offset) -> {
                server.hang();
                return item.loader(reads).load(target, offset);
              });

      assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
      assertThat(TestItem.bytes(fetched.content())).isEqualTo(item.content());
      assertThat(answers).containsExactly(Answer.ABSENT, Answer.LATE);
    } finally {
      server.resume();
    }
  }

  @Test
  void aConnectionClosedByTheServerIsNotAFault() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    TestItem item = new TestItem(1, 1000);
    assertFetched(engine, item, Outcome.ADMITTED);
    server.ask(Command.CLIENT, "KILL", "TYPE", "normal", "SKIPME", "yes");

    assertFetched(engine, item, Outcome.PEER);
    assertThat(logged).isEmpty();
  }

  // ---- access

  @Test
  void theUrisPasswordIsUsed() throws Exception {
    RedisServer server = server("--requirepass", "p@ss/w:rd");
    RedisEngine engine = engine(new FullStore(), null, server.uri(":p%40ss%2Fw%3Ard@"));
    await(engine.servers::up);

    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":topsecret@", "topuser:topsecret@"})
  void aWrongPasswordIsLoggedOnceAndNotShown(String credentials) throws Exception {
    RedisServer server = server("--requirepass", "another");
    RedisEngine engine = engine(new FullStore(), null, server.uri(credentials));
    for (int i = 0; i < 100; i++) {
      assertBypassed(engine, new TestItem(i, 1000));
    }

    await(() -> !logged.isEmpty());
    assertThat(logged)
        .singleElement()
        .asString()
        .containsPattern("NOAUTH|WRONGPASS")
        .doesNotContain("top");
  }

  @Test
  void tlsUsesTheUsersKeysAndRefusesOthers() throws Exception {
    TestKeys keys = TestKeys.create(directory, "mine");
    RedisServer server =
        server(
            "--port",
            "0",
            "--tls-port",
            "PORT",
            "--tls-cert-file",
            keys.certificate().toString(),
            "--tls-key-file",
            keys.key().toString(),
            "--tls-ca-cert-file",
            keys.certificate().toString());
    RedisEngine engine = engine(new FullStore(), keys.context(), server.uri());
    await(engine.servers::up);
    for (int length : new int[] {0, 8180, 112_640, 8 << 20}) {
      TestItem item = new TestItem(length, length);
      assertFetched(engine, item, Outcome.ADMITTED);
      assertFetched(engine, item, Outcome.PEER);
    }
    timeouts = Timeouts.USUAL;
    RedisEngine hasty = engine(new FullStore(), keys.context(), server.uri());
    await(hasty.servers::up);
    server.hang();
    try {
      assertBypassed(hasty, new TestItem(1, 1000));
    } finally {
      server.resume();
    }
    await(hasty.servers::up);
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    assertThat(logged).filteredOn(line -> line.contains("is not used until")).hasSize(1);

    // A stranger's keys, the JDK's own certificates, and no TLS.
    logged.clear();
    SSLContext stranger = TestKeys.create(directory, "stranger").context();
    for (RedisEngine refused :
        List.of(
            engine(new FullStore(), stranger, server.uri()),
            engine(new FullStore(), null, server.uri()),
            engine(new FullStore(), null, RedisUri.parse("redis://127.0.0.1:" + server.port())))) {
      assertBypassed(refused, new TestItem(1, 1000));
      assertThat(refused.servers.up()).isFalse();
    }
    await(() -> logged.size() == 3);
    assertThat(logged).allMatch(line -> line.contains("is not reachable yet"));
  }

  // ---- clusters

  @Test
  void aClusterIsDiscoveredFromOneNode() throws Exception {
    List<RedisServer> servers = cluster();
    RedisEngine engine = engine(servers.get(1));
    int items = 60;
    for (int i = 0; i < items; i++) {
      assertFetched(engine, new TestItem(i, 2000), Outcome.ADMITTED);
    }
    RedisEngine other = engine(new FullStore(), null, dead(), servers.get(2).uri());
    await(other.servers::up);
    for (int i = 0; i < items; i++) {
      assertFetched(other, new TestItem(i, 2000), Outcome.PEER);
    }
    assertThat(reads).hasValue(items);
    assertThat(logged).singleElement().asString().contains("is not reachable yet");
    for (RedisServer server : servers) {
      assertThat((Long) server.ask(Command.DBSIZE)).isPositive();
    }
  }

  @Test
  void aDeadNodeLosesOnlyItsOwnItems() throws Exception {
    List<RedisServer> servers = cluster();
    RedisEngine engine = engine(servers.get(0));
    for (RedisServer server : servers) {
      server.ask(Command.CONFIG, "SET", "cluster-require-full-coverage", "no");
    }
    int items = 60;
    for (int i = 0; i < items; i++) {
      assertFetched(engine, new TestItem(i, 2000), Outcome.ADMITTED);
    }
    long lost = (Long) servers.get(2).ask(Command.DBSIZE);
    servers.get(2).kill();

    int bypassed = 0;
    for (int i = 0; i < items; i++) {
      Fetched fetched = fetch(engine, new TestItem(i, 2000));
      bypassed += fetched.outcome() == Outcome.FULL ? 1 : 0;
      assertThat(fetched.outcome()).isIn(Outcome.FULL, Outcome.PEER);
    }
    assertThat(bypassed).isEqualTo((int) lost);
    assertThat(logged).singleElement().asString().contains("is not used until it answers again");
    servers.get(2).restart();
    await(engine.servers::up);
    await(
        () -> {
          try {
            return fetch(engine, new TestItem(items + 1, 2000)).outcome() != Outcome.FULL;
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void aSlotThatMovesIsFoundAgain() throws Exception {
    List<RedisServer> servers = cluster();
    RedisEngine engine = engine(servers.get(0));
    TestItem item = new TestItem(1, 2000);
    String slot = servers.get(0).askForText(Command.CLUSTER, "KEYSLOT", key(item));
    int owner = Integer.parseInt(slot) * 3 / 16384;
    String heir = servers.get((owner + 1) % 3).askForText(Command.CLUSTER, "MYID");
    for (RedisServer server : servers) {
      server.ask(Command.CLUSTER, "SETSLOT", slot, "NODE", heir);
    }

    assertBypassed(engine, item);
    await(
        () -> {
          try {
            return fetch(engine, item).outcome() == Outcome.ADMITTED;
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
    assertFetched(engine, item, Outcome.PEER);
    assertThat(servers.get((owner + 1) % 3).ask(Command.EXISTS, (Object) key(item))).isEqualTo(1L);
    assertThat(logged).isEmpty();
  }

  @Test
  void aNodeWithoutSlotsIsNotUsed() throws Exception {
    RedisServer first = cluster().get(0);
    String bus = Integer.toString(RedisServer.freePort());
    RedisServer empty = server("--cluster-enabled", "yes", "--cluster-port", bus);
    first.ask(Command.CLUSTER, "MEET", "127.0.0.1", Integer.toString(empty.port()), bus);
    await(() -> empty.askForText(Command.CLUSTER, "INFO").contains("cluster_size:3"));

    RedisEngine engine = engine(empty);
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    await(() -> empty.askForText(Command.CLIENT, "LIST").lines().count() == 1);
  }

  private static RedisUri dead() throws IOException {
    return RedisUri.parse("redis://127.0.0.1:" + RedisServer.freePort());
  }

  /** Three servers that know each other, with a third of the slots each. */
  private List<RedisServer> cluster() throws IOException {
    List<RedisServer> servers = new ArrayList<>();
    List<String> bus = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      bus.add(Integer.toString(RedisServer.freePort()));
      servers.add(server("--cluster-enabled", "yes", "--cluster-port", bus.get(i)));
    }
    for (int i = 0; i < 3; i++) {
      int from = (16384 * i + 2) / 3;
      int to = (16384 * (i + 1) + 2) / 3 - 1;
      servers
          .get(i)
          .ask(Command.CLUSTER, "ADDSLOTSRANGE", Integer.toString(from), Integer.toString(to));
      servers
          .get(0)
          .ask(
              Command.CLUSTER,
              "MEET",
              "127.0.0.1",
              Integer.toString(servers.get(i).port()),
              bus.get(i));
    }
    await(
        () ->
            servers.stream()
                .allMatch(
                    server ->
                        server.askForText(Command.CLUSTER, "INFO").contains("cluster_state:ok")
                            && server
                                .askForText(Command.CLUSTER, "INFO")
                                .contains("cluster_size:3")));
    return servers;
  }

  @Test
  void serversThatAreNotAClusterAreLogged() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(new FullStore(), null, server.uri(), server().uri());
    await(engine.servers::up);

    await(() -> !logged.isEmpty());
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    assertThat(logged).singleElement().asString().contains("is not a cluster");
  }

  // ---- closing

  @Test
  void closingEndsThreadsAndConnections() throws Exception {
    RedisServer server = server();
    RedisEngine engine = engine(server);
    assertFetched(engine, new TestItem(1, 1000), Outcome.ADMITTED);
    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(thread -> thread.getName().startsWith("coordl-redis"))
        .isNotEmpty()
        .allMatch(Thread::isDaemon);

    engine.close();
    assertBypassed(engine, new TestItem(1, 1000));
    await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("coordl-redis")));
    await(() -> server.askForText(Command.CLIENT, "LIST").lines().count() == 1);
  }
}
