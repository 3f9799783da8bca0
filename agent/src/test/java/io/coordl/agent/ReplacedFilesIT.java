package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.agent.Child.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import program.Replaced;

/**
 * The packaged agent with files that are replaced by others of equal size and modification time.
 */
final class ReplacedFilesIT {
  @TempDir Path work;

  static List<Path> jdks() throws IOException {
    return Child.jdks();
  }

  private Path data(String name, int version) throws IOException {
    Path data = Files.createDirectories(work.resolve(name).resolve("data"));
    Replaced.make(data, version);
    return data;
  }

  private Child job(Path jdk, Path data, String agent, String... more) throws IOException {
    Child job = Child.java(jdk, work);
    if (!agent.isEmpty()) {
      job.agent("record=off,status=off,cache=minio,cache.size=10m,dataset=" + data + agent);
    }
    return job.program("program.Replaced", data.toString()).with(more);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theProgramReadsTheCurrentFiles(Path jdk) throws Exception {
    Outcome plain = job(jdk, data("plain", 0), "").run();
    for (String scope : List.of("process", "host")) {
      String agent = ",cache.scope=" + scope + ",group=replaced-" + ProcessHandle.current().pid();
      Outcome outcome = job(jdk, data(scope, 0), agent).run();
      assertThat(outcome.out()).isEqualTo(plain.out());
      assertThat(outcome.exit()).isZero();
      assertThat(outcome.agentLines())
          .anyMatch(line -> line.contains("raw cache (" + scope + "): "))
          .noneMatch(line -> line.contains("fault"));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aLaterJobDoesNotReadReplacedFilesFromRedis(Path jdk) throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Process server =
        new ProcessBuilder("redis-server", "--bind", "127.0.0.1", "--port", "" + port, "--save", "")
            .directory(work.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      awaitServer(port);
      String peer = ",group=replaced,peer=redis://127.0.0.1:" + port;
      Path data = data("redis", 0);
      Outcome first = job(jdk, data, peer, "keep").run();
      assertThat(first.out()).isEqualTo(job(jdk, data, "", "keep").run().out());
      Replaced.make(data, 3);
      Outcome plain = job(jdk, data, "", "keep").run();
      assertThat(plain.out()).isNotEqualTo(first.out());
      assertThat(job(jdk, data, peer, "keep").run().out()).isEqualTo(plain.out());
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private static void awaitServer(int port) {
    while (true) {
      try {
        new Socket(InetAddress.getLoopbackAddress(), port).close();
        return;
      } catch (IOException e) {
        LockSupport.parkNanos(10_000_000); // Not up yet.
      }
    }
  }
}
