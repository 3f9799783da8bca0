package io.coordl.peers.redis;

import io.coordl.peers.Timeouts;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** A redis-server for a test, on its own loopback port. */
final class RedisServer implements Closeable {
  private static final String PROGRAM = "redis-server";

  private final Path directory;
  private final int port;
  private final List<String> more;
  private Process process;

  private RedisServer(Path directory, int port, List<String> more) {
    this.directory = directory;
    this.port = port;
    this.more = more;
  }

  /**
   * Starts a server without persistence; returns once it listens.
   *
   * @param more arguments, in which "PORT" stands for the server's port
   */
  static RedisServer start(Path directory, String... more) throws IOException {
    Path own = Files.createTempDirectory(directory, "redis");
    RedisServer server = new RedisServer(own, freePort(), List.of(more));
    server.restart();
    return server;
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Starts the server, or restarts it on the same port. */
  void restart() throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                PROGRAM,
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                directory.toString()));
    if (!more.contains("--tls-port")) {
      command.addAll(List.of("--port", Integer.toString(port)));
    }
    for (String argument : more) {
      command.add(argument.equals("PORT") ? Integer.toString(port) : argument);
    }
    Path log = directory.resolve("log");
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
    } catch (IOException e) {
      throw new AssertionError(
          PROGRAM + " cannot be started, but these tests need it: apt-get install redis-server", e);
    }
    while (!listens()) {
      if (!process.isAlive()) {
        throw new AssertionError(PROGRAM + " ended: " + Files.readString(log));
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  private boolean listens() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      if (more.contains("--tls-port")) {
        return true;
      }
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.UTF_8));
      InputStream in = socket.getInputStream();
      // "+PONG", or an error such as a request for a password.
      int first = in.read();
      return first == '+' || first == '-';
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the usual timeouts, except that an answer may take {@code progress}. */
  static Timeouts patience(Duration progress) {
    Timeouts usual = Timeouts.USUAL;
    return new Timeouts(
        progress,
        usual.connect(),
        usual.faults(),
        usual.probe(),
        usual.handshake(),
        usual.claimant(),
        usual.stalled(),
        usual.hosts());
  }

  int port() {
    return port;
  }

  long pid() {
    return process.pid();
  }

  /** The server's address; {@code credentials} include the @, or are empty. */
  RedisUri uri(String credentials) {
    return RedisUri.parse(
        (more.contains("--tls-port") ? "rediss://" : "redis://")
            + credentials
            + "127.0.0.1:"
            + port);
  }

  RedisUri uri() {
    return uri("");
  }

  /** Sends a command directly, bypassing the engine. */
  Object ask(Command command, Object... arguments) {
    try (Connection connection = new Connection("127.0.0.1", port)) {
      return connection.executeCommand(new CommandArguments(command).addObjects(arguments));
    }
  }

  /** Like {@link #ask}, with a text reply. */
  String askForText(Command command, Object... arguments) {
    Object answer = ask(command, arguments);
    return answer instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(answer);
  }

  /** kill -9. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Stops it with SIGSTOP. */
  void hang() throws IOException {
    signal("-STOP");
    while (!Files.readString(Path.of("/proc", Long.toString(pid()), "stat"))
        .replaceAll(".*\\) ", "")
        .startsWith("T")) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Continues it with SIGCONT. */
  void resume() throws IOException {
    signal("-CONT");
  }

  private void signal(String name) throws IOException {
    try {
      new ProcessBuilder("kill", name, Long.toString(pid())).start().waitFor();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
