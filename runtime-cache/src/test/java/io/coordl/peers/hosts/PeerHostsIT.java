package io.coordl.peers.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.store.ArenaStore;
import io.coordl.testing.Full;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hosts in separate JVMs: killing, stopping or starting any of them costs the others only time. */
class PeerHostsIT {
  private static final String CLASSES =
      System.getProperty("coordl.test.classes", "target/classes:target/test-classes");

  private static final int ROUNDS = Full.orTenth(100);
  private static final int HOSTS = 4;
  private static final int ITEMS = 600;

  private final Process[] running = new Process[HOSTS];
  private final List<String> ports = new ArrayList<>();
  private final long start = System.currentTimeMillis();
  private Path directory;

  @BeforeEach
  void prepare() throws IOException {
    directory =
        Files.isDirectory(ArenaStore.SHARED_MEMORY)
            ? Files.createTempDirectory(ArenaStore.SHARED_MEMORY, "coordl-it")
            : Files.createTempDirectory("coordl-it");
    for (int i = 1; i <= HOSTS; i++) {
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0." + i))) {
        ports.add(Integer.toString(free.getLocalPort()));
      }
    }
  }

  @AfterEach
  void removeDirectory() throws Exception {
    for (Process host : running) {
      if (host != null) {
        host.destroyForcibly().waitFor();
      }
    }
    Files.delete(directory);
  }

  private void start(int host, long seed) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-cp",
                CLASSES,
                HostMain.class.getName(),
                directory.toString(),
                Integer.toString(host + 1),
                String.join(",", ports),
                Integer.toString(ITEMS),
                Long.toString(seed),
                Long.toString(start))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    running[host] = process;
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    assertThat(output.readLine()).isEqualTo("up " + ports.get(host));
  }

  private static void go(Process host) throws IOException {
    host.getOutputStream().write('\n');
    host.getOutputStream().flush();
  }

  private static void signal(Process host, String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(host.pid())).start().waitFor();
  }

  /** Returns the host's report, after a clean exit. */
  private static String end(Process host) throws Exception {
    host.getOutputStream().close();
    String report = host.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(host.waitFor()).isZero();
    return report;
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void killsAndStopsInRandomRoundsCauseNoWrongByteAndNoFailedFetch() throws Exception {
    SplittableRandom random = new SplittableRandom(3);
    for (int host = 0; host < HOSTS; host++) {
      start(host, host);
    }
    for (Process host : running) {
      go(host);
    }
    int kills = 0;
    int stops = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int victim = 1 + random.nextInt(HOSTS - 1); // The first host is never a victim.
      Process process = running[victim];
      LockSupport.parkNanos(random.nextLong(50_000_000, 300_000_000));
      assertThat(process.isAlive()).as("still running").isTrue();
      if (random.nextInt(3) == 0) {
        kills++;
        process.destroyForcibly().waitFor();
        LockSupport.parkNanos(random.nextLong(1, 200_000_000));
        start(victim, 1000L + round);
        go(running[victim]);
      } else {
        stops++;
        signal(process, "STOP");
        LockSupport.parkNanos(random.nextLong(1_000_000, 800_000_000));
        signal(process, "CONT");
      }
    }
    // A host restarted last may still be waiting for its peers.
    for (Process host : running) {
      assertThat(host.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo(HostMain.FOUND);
    }
    System.out.printf("%d kills, %d stops of %d hosts; at the end:%n", kills, stops, HOSTS);
    for (Process host : running) {
      String report = end(host);
      System.out.println(report);
      assertThat(report).startsWith("fetches ").contains("FOUND=");
    }
  }
}
