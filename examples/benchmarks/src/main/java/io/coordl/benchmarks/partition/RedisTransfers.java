package io.coordl.benchmarks.partition;

import io.coordl.items.ItemKey;
import io.coordl.peers.Timeouts;
import io.coordl.peers.redis.RedisEngine;
import io.coordl.peers.redis.RedisUri;
import io.coordl.store.Fetched;
import io.coordl.store.ItemStore;
import io.coordl.store.Loader;
import io.coordl.store.Outcome;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** Items from a Redis server. */
final class RedisTransfers {
  private RedisTransfers() {}

  private static byte[] key(int item) {
    return ("item" + item).getBytes(StandardCharsets.UTF_8);
  }

  /** Our engine for {@code peer=redis://}, on a host without room for items. */
  static final class Engine implements Transfer {
    private final RedisEngine engine;
    private final int bytes;

    Engine(InetSocketAddress server, Items items) throws IOException {
      bytes = items.bytes();
      engine =
          new RedisEngine(
              List.of(RedisUri.parse("redis://127.0.0.1:" + server.getPort())),
              null,
              new NoRoom(),
              "benchmark",
              (peer, start, end, length, answer) -> {},
              System.err::println,
              Timeouts.USUAL);
      for (int i = 0; i < items.count(); i++) {
        byte[] content = items.content(i);
        Fetched put =
            engine.fetch(
                itemKey(i),
                bytes,
                (target, offset) -> {
                  System.arraycopy(content, 0, target, offset, content.length);
                  return true;
                });
        if (put.outcome() != Outcome.ADMITTED) {
          throw new IllegalStateException("Redis did not keep item " + i + ": " + put.outcome());
        }
      }
    }

    private static ItemKey itemKey(int item) {
      return new ItemKey(item * 0x9E3779B97F4A7C15L, item);
    }

    @Override
    public int get(int item) throws IOException {
      Fetched fetched = engine.fetch(itemKey(item), bytes, (target, offset) -> false);
      ByteBuffer content = fetched.content();
      if (content == null || fetched.outcome() != Outcome.PEER) {
        throw new IllegalStateException("Item " + item + " did not come from Redis.");
      }
      return Items.ends(content);
    }

    @Override
    public void close() {
      engine.close();
    }
  }

  private static final class NoRoom implements ItemStore {
    @Override
    public @Nullable ByteBuffer find(ItemKey key) {
      return null;
    }

    @Override
    public Fetched fetch(ItemKey key, int length, Loader loader) {
      return new Fetched(Outcome.FULL, null);
    }
  }

  /** Plain Jedis, with a connection per thread. */
  static final class Jedis implements Transfer {
    private final ThreadLocal<Connection> connections;

    Jedis(InetSocketAddress server, Items items) {
      connections = ThreadLocal.withInitial(() -> new Connection("127.0.0.1", server.getPort()));
      Connection connection = connections.get();
      for (int i = 0; i < items.count(); i++) {
        connection.sendCommand(Command.SET, key(i), items.content(i));
        connection.getStatusCodeReply();
      }
    }

    @Override
    public int get(int item) {
      Connection connection = connections.get();
      connection.sendCommand(Command.GET, key(item));
      byte[] content = connection.getBinaryBulkReply();
      return Items.ends(content[0], content[content.length - 1]);
    }

    @Override
    public void close() {}
  }

  /** Plain Lettuce, with one connection for all threads, as its manual recommends. */
  static final class Lettuce implements Transfer {
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    Lettuce(InetSocketAddress server, Items items) {
      client = RedisClient.create(RedisURI.create("127.0.0.1", server.getPort()));
      connection = client.connect(ByteArrayCodec.INSTANCE);
      for (int i = 0; i < items.count(); i++) {
        connection.sync().set(key(i), items.content(i));
      }
    }

    @Override
    public int get(int item) {
      byte[] content = connection.sync().get(key(item));
      return Items.ends(content[0], content[content.length - 1]);
    }

    @Override
    public void close() {
      connection.close();
      client.shutdown();
    }
  }
}
