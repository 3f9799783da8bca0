package io.coordl.peers.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.store.Fetched;
import io.coordl.store.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Protocol.Command;

/** Hosts in separate JVMs share one Redis server. */
class RedisJobsIT {
  private static final int ITEMS = 500;

  @TempDir Path directory;

  private final List<Process> jobs = new ArrayList<>();
  private RedisServer server;

  @BeforeEach
  void start() throws IOException {
    server = RedisServer.start(directory);
  }

  @AfterEach
  void stop() throws Exception {
    for (Process job : jobs) {
      job.destroyForcibly().waitFor();
    }
    server.close();
  }

  private Process job(int epochs, int seed, String budget) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                RedisJob.class.getName(),
                server.uri().toString(),
                directory.toString(),
                Integer.toString(ITEMS),
                Integer.toString(epochs),
                Integer.toString(seed),
                budget)
            .redirectErrorStream(true)
            .start();
    jobs.add(process);
    return process;
  }

  private static BufferedReader output(Process job) {
    return job.inputReader(StandardCharsets.UTF_8);
  }

  private static void release(Process job) throws IOException {
    job.getOutputStream().write('\n');
    job.getOutputStream().flush();
  }

  /** With local room for no items, for some, and for all. */
  @ParameterizedTest
  @ValueSource(strings = {"0", "4m", "64m"})
  void threeHostsReadEachItemOnceBetweenThem(String budget) throws Exception {
    int epochs = 3;
    List<Process> hosts =
        List.of(job(epochs, 1, budget), job(epochs, 2, budget), job(epochs, 3, budget));
    for (Process host : hosts) {
      String line = output(host).readLine();
      assertThat(budget.equals("0") ? output(host).readLine() : line).isEqualTo("joined");
    }
    for (int epoch = 0; epoch < epochs; epoch++) {
      for (Process host : hosts) {
        release(host);
      }
      int reads = 0;
      for (Process host : hosts) {
        String result = output(host).readLine();
        assertThat(result).matches("reads \\d+ wrong 0");
        reads += Integer.parseInt(result.split(" ", -1)[1]);
      }
      assertThat(reads).as("after epoch " + epoch).isEqualTo(ITEMS);
    }
  }

  @Test
  void killedHostsLeaveNoWrongAndNoStuckItem() throws Exception {
    SplittableRandom random = new SplittableRandom(11);
    int kills = 20;
    for (int i = 0; i < kills; i++) {
      Process victim = job(1, i, "4m");
      assertThat(output(victim).readLine()).isEqualTo("joined");
      release(victim);
      // A job claims one item at a time, so three keys include items that it has read.
      while (i == 0 && (Long) server.ask(Command.DBSIZE) < 3) {
        LockSupport.parkNanos(1_000_000);
      }
      LockSupport.parkNanos(random.nextLong(1_000_000, 60_000_000));
      victim.destroyForcibly().waitFor();
    }
    AtomicInteger reads = new AtomicInteger();
    List<String> logged = new ArrayList<>();
    try (RedisEngine engine =
        new RedisEngine(
            List.of(server.uri()),
            null,
            new FullStore(),
            "jobs",
            (peer, start, end, bytes, answer) -> {},
            logged::add,
            RedisServer.patience(Duration.ofMinutes(1)))) {
      while (!engine.servers.up()) {
        LockSupport.parkNanos(1_000_000);
      }
      for (int i = 0; i < ITEMS; i++) {
        TestItem item = new TestItem(i, RedisJob.BYTES);
        Fetched fetched = engine.fetch(item.key(), item.length(), item.loader(reads));
        assertThat(fetched.outcome()).isIn(Outcome.PEER, Outcome.ADMITTED);
        assertThat(TestItem.bytes(fetched.content())).isEqualTo(item.content());
      }
    }
    assertThat(logged).isEmpty();
    assertThat(reads).as("the killed hosts have read some items").hasValueLessThan(ITEMS);
  }
}
