package io.coordl.endtoend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A redis-server without persistence, on its own loopback port. */
record Redis(Process process, int port) implements AutoCloseable {
  /** Starts a server and waits until it answers. */
  static Redis start(Path directory) throws IOException, InterruptedException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    String at = Integer.toString(port);
    Process process;
    try {
      process =
          new ProcessBuilder(
                  "redis-server",
                  "--bind",
                  "127.0.0.1",
                  "--port",
                  at,
                  "--save",
                  "",
                  "--dir",
                  directory.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new AssertionError(
          "This test needs redis-server, but cannot start it: apt-get install redis-server", e);
    }
    while (!Shell.works("redis-cli", "-p", at, "ping")) {
      if (!process.isAlive()) {
        throw new AssertionError("redis-server ended with status " + process.exitValue());
      }
      LockSupport.parkNanos(5_000_000);
    }
    return new Redis(process, port);
  }

  /** Returns the value of {@code peer=}. */
  String uri() {
    return "redis://127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
