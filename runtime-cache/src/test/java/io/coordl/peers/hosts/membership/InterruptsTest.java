package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.ItemKey;
import io.coordl.peers.HostPort;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.HostsEngine;
import io.coordl.peers.hosts.PeerServer;
import io.coordl.peers.hosts.TestSecret;
import io.coordl.peers.redis.RedisEngine;
import io.coordl.peers.redis.RedisUri;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import io.coordl.store.Outcome;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent's threads survive interrupts: launchers such as {@code mvn exec:java} interrupt a
 * program's thread group at its end, and a program may interrupt any thread it finds.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class InterruptsTest {
  private static final int ITEMS = 40;
  private static final int LENGTH = 3000;
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

  @TempDir Path work;
  private final Deque<Closeable> open = new ArrayDeque<>();

  @AfterEach
  void close() throws IOException {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  /** Returns a host that is set up as the agent would set it up. */
  private HostsEngine host(int number, int port) throws IOException {
    Path directory = Files.createDirectories(work.resolve("host" + number));
    ArenaStore store = ArenaStore.openProcess(directory, ByteBudget.parse("4m"), sentence -> {});
    open.push(store);
    HostMembership membership =
        new HostMembership(
            new HostMembership.Settings(
                directory,
                "store",
                "g",
                Discovery.parse(Hosts.names(3, port)),
                HostPort.parse(Hosts.name(number, port)),
                TestSecret.ours(),
                store::capacity,
                name -> null),
            address ->
                new PeerServer(
                    address, store, TestSecret.ours(), "g", sentence -> {}, Timeouts.USUAL),
            sentence -> {});
    HostsEngine engine =
        new HostsEngine(
            store,
            membership,
            TestSecret.ours(),
            number,
            "g",
            (a, b, c, d, e) -> {},
            sentence -> {},
            Timeouts.USUAL);
    open.push(engine);
    return engine;
  }

  private static Fetched fetch(HostsEngine host, int item) throws IOException {
    return host.fetch(ItemKey.of("/" + item, LENGTH, 1, -1), LENGTH, (target, at) -> true);
  }

  private static List<Thread> ours() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("coordl-"))
        .toList();
  }

  private static void interruptAll() {
    for (int times = 0; times < 5; times++) {
      Thread.currentThread().getThreadGroup().interrupt();
      assertThat(Thread.interrupted()).as("this thread belongs to its group").isTrue();
      ours().forEach(Thread::interrupt);
    }
  }

  private static long cpu(List<Thread> threads) {
    return threads.stream()
        .mapToLong(each -> Math.max(0, CPU.getThreadCpuTime(each.getId())))
        .sum();
  }

  /** CPU time of the threads while this one uses {@code nanos} of CPU time. */
  private static long cpuWhileBurning(List<Thread> threads, long nanos) {
    long before = cpu(threads);
    long end = CPU.getCurrentThreadCpuTime() + nanos;
    while (CPU.getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
    return cpu(threads) - before;
  }

  @Test
  void interruptedThreadsContinueAndDoNotSpin() throws Exception {
    FutureTask<Boolean> program = new FutureTask<>(this::interruptAndContinue);
    new Thread(new ThreadGroup("program"), program, "program").start();
    assertThat(program.get()).isTrue();
  }

  private boolean interruptAndContinue() throws Exception {
    int port = Hosts.freePort();
    ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    open.push(silent);
    ArenaStore local = ArenaStore.openProcess(work, ByteBudget.parse("4m"), sentence -> {});
    open.push(local);
    open.push(
        new RedisEngine(
            List.of(RedisUri.parse("redis://127.0.0.1:" + silent.getLocalPort())),
            null,
            local,
            "g",
            (a, b, c, d, e) -> {},
            sentence -> {},
            Timeouts.USUAL));
    HostsEngine first = host(1, port);
    HostsEngine second = host(2, port);
    for (int i = 0; i < ITEMS; i++) {
      fetch(second, i);
    }
    List<Thread> before = ours();
    assertThat(before)
        .extracting(thread -> thread.getName().replaceAll("[0-9,:.-]*$", ""))
        .contains(
            "coordl-membership",
            "coordl-peer-accept",
            "coordl-peer-serve",
            "coordl-peer-tend",
            "coordl-peer-watch",
            "coordl-redis",
            "coordl-redis-watch");
    assertThat(before)
        .as("none is in the program's group")
        .allMatch(thread -> thread.getThreadGroup().getParent() == null);

    interruptAll();

    long burnt = TimeUnit.MILLISECONDS.toNanos(400);
    assertThat(cpuWhileBurning(before, burnt)).as("of all threads").isLessThan(burnt / 2);
    assertThat(before)
        .filteredOn(thread -> thread.getName().matches("coordl-(membership|peer|redis).*"))
        .filteredOn(thread -> !thread.getName().startsWith("coordl-peers"))
        .allMatch(Thread::isAlive);
    for (int i = 0; i < ITEMS; i++) {
      assertThat(fetch(first, i).outcome()).isIn(Outcome.PEER, Outcome.HIT);
    }
    HostsEngine third = host(3, port); // Waits for both hosts; fetches over new connections.
    for (int i = 0; i < ITEMS; i++) {
      assertThat(fetch(third, i).outcome()).isIn(Outcome.PEER, Outcome.HIT);
    }
    return true;
  }
}
