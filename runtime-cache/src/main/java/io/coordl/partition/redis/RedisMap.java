package io.coordl.partition.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Which server keeps which key: the only one, or, in a cluster, the one of the key's slot.
 * Immutable.
 */
final class RedisMap {
  private static final int SLOTS = 16384;

  private final List<RedisNode> nodes;
  private final @Nullable RedisNode @Nullable [] slots;

  private RedisMap(List<RedisNode> nodes, @Nullable RedisNode @Nullable [] slots) {
    this.nodes = nodes;
    this.slots = slots;
  }

  /** One server keeps all. */
  static RedisMap of(RedisNode only) {
    return new RedisMap(List.of(only), null);
  }

  /** A cluster; {@code slots} is of {@link #table} and becomes part of the map. */
  static RedisMap of(List<RedisNode> nodes, @Nullable RedisNode[] slots) {
    return new RedisMap(List.copyOf(nodes), slots);
  }

  /** Room for the owner of each slot. */
  static @Nullable RedisNode[] table() {
    return new RedisNode[SLOTS];
  }

  List<RedisNode> nodes() {
    return nodes;
  }

  boolean isCluster() {
    return slots != null;
  }

  /** The server of a key; null if nobody has its slot. */
  @Nullable RedisNode of(byte[] key) {
    return slots == null ? nodes.get(0) : slots[JedisClusterCRC16.getSlot(key)];
  }
}
