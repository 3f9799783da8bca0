package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.IsolatedLoader;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Redis engine in the agent's jar works with the packaged part of Jedis. It stores and finds
 * items, continues after the server is lost and after it is back, and reports a wrong password.
 */
final class RedisFromTheJarIT {
  private final List<String> messages = Collections.synchronizedList(new ArrayList<>());
  private IsolatedLoader loader;

  @Test
  void thePackagedClassesSuffice(@TempDir Path directory) throws Exception {
    loader = new IsolatedLoader(Child.AGENT.toFile());
    int port = freePort();
    Process server = server(port, directory);
    try (AutoCloseable engine = engine("redis://127.0.0.1:" + port)) {
      until(engine, 1, "ADMITTED");
      assertThat(fetch(engine, 1)).isEqualTo("PEER");
      assertThat(fetch(engine, 2)).isEqualTo("ADMITTED");
      server.destroyForcibly().waitFor();
      assertThat(fetch(engine, 1)).isEqualTo("FULL");
      server = server(port, directory);
      until(engine, 1, "ADMITTED");
      refused("redis://somebody:secret@127.0.0.1:" + port);
    } finally {
      server.destroyForcibly().waitFor();
    }
    assertThat(messages)
        .anyMatch(word -> word.contains("is not used until it answers again"))
        .noneMatch(word -> word.contains("secret") || word.contains("Error"));
  }

  /** Connects to a running server with wrong credentials. */
  private void refused(String uri) throws Exception {
    try (AutoCloseable secret = engine(uri)) {
      while (messages.stream().noneMatch(word -> word.contains("WRONGPASS"))) {
        assertThat(fetch(secret, 1)).isEqualTo("FULL");
        LockSupport.parkNanos(5_000_000);
      }
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static Process server(int port, Path directory) {
    try {
      return new ProcessBuilder(
              "redis-server",
              "--bind",
              "127.0.0.1",
              "--port",
              Integer.toString(port),
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
  }

  private AutoCloseable engine(String uri) throws Exception {
    Class<?> type = type("io.coordl.peers.redis.RedisEngine");
    Object server =
        type("io.coordl.peers.redis.RedisUri").getMethod("parse", String.class).invoke(null, uri);
    Object full =
        type("io.coordl.store.Fetched").getConstructors()[0].newInstance(outcome("FULL"), null);
    return (AutoCloseable)
        type.getConstructors()[0].newInstance(
            List.of(server),
            null,
            proxy(
                "io.coordl.store.ItemStore",
                (p, m, a) -> m.getName().equals("fetch") ? full : null),
            "jar",
            proxy("io.coordl.peers.PeerSink", (p, m, a) -> null),
            proxy("io.coordl.telemetry.log.UserLog", (p, m, a) -> messages.add((String) a[0])),
            type("io.coordl.peers.Timeouts").getField("USUAL").get(null));
  }

  private void until(Object engine, int number, String outcome) throws Exception {
    while (!fetch(engine, number).equals(outcome)) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  private String fetch(Object engine, int number) throws Exception {
    byte[] content = new byte[20_000];
    content[0] = (byte) number;
    Object load =
        proxy(
            "io.coordl.store.Loader",
            (proxy, method, arguments) -> {
              System.arraycopy(content, 0, arguments[0], (int) arguments[1], content.length);
              return true;
            });
    Class<?> key = type("io.coordl.items.ItemKey");
    Object fetched =
        engine
            .getClass()
            .getMethod("fetch", key, int.class, type("io.coordl.store.Loader"))
            .invoke(
                engine,
                key.getConstructors()[0].newInstance(7L, (long) number),
                content.length,
                load);
    ByteBuffer bytes = (ByteBuffer) fetched.getClass().getMethod("content").invoke(fetched);
    if (bytes != null) {
      assertThat(bytes).isEqualTo(ByteBuffer.wrap(content));
    }
    return fetched.getClass().getMethod("outcome").invoke(fetched).toString();
  }

  private Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(name, true, loader);
  }

  private Object outcome(String name) throws Exception {
    return type("io.coordl.store.Outcome").getMethod("valueOf", String.class).invoke(null, name);
  }

  private Object proxy(String type, InvocationHandler handler) throws ClassNotFoundException {
    return Proxy.newProxyInstance(loader, new Class<?>[] {type(type)}, handler);
  }
}
