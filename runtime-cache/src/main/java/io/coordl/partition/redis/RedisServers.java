package io.coordl.partition.redis;

import io.coordl.partition.UserLog;
import io.coordl.partition.redis.RedisNode.Kind;
import io.coordl.partition.redis.RedisNode.Reply;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Which server keeps which key: the only one, or, in a cluster, the one of the key's slot. Looked
 * for by one thread of the agent, asked by any.
 */
final class RedisServers {
  private static final int SLOTS = 16384;
  private static final int CLUSTER_BYTES = 1 << 20;
  private static final String POLICY = "maxmemory_policy:";

  private final List<RedisUri> seeds;
  private final RedisNode.Common common;
  private final UserLog log;
  private final Map<String, RedisNode> all = new HashMap<>();

  /** By slot, null if nobody has it; one entry where one server keeps all; empty as yet. */
  private volatile @Nullable RedisNode[] slots = {};

  RedisServers(List<RedisUri> seeds, RedisNode.Common common) {
    if (seeds.isEmpty()) {
      throw new IllegalArgumentException("No server is named.");
    }
    this.seeds = List.copyOf(seeds);
    this.common = common;
    this.log = common.log();
  }

  private static Stream<RedisNode> in(@Nullable RedisNode[] slots) {
    return Stream.of(slots).filter(Objects::nonNull).distinct();
  }

  /** Whether all servers answer. */
  boolean up() {
    @Nullable RedisNode[] known = slots;
    return known.length > 0 && in(known).allMatch(RedisNode::up);
  }

  /** The server of a key; null if nobody has its slot, or none was found yet. */
  @Nullable RedisNode of(byte[] key) {
    @Nullable RedisNode[] known = slots;
    return switch (known.length) {
      case 0 -> null;
      case 1 -> known[0];
      default -> known[JedisClusterCRC16.getSlot(key)];
    };
  }

  /**
   * Looks whether those that are down are back, and in a cluster asks who keeps what.
   *
   * @param moved whether a server has said that this has changed
   */
  void look(boolean moved) {
    @Nullable RedisNode[] known = slots;
    boolean wereUp = up();
    in(known).forEach(RedisNode::tend);
    if (known.length == 1 || (wereUp && !moved) || in(known).anyMatch(this::ask)) {
      return;
    }
    for (RedisUri seed : seeds) {
      RedisNode node = node(seed);
      if (node.tend() && ask(node)) {
        introduce(node);
        return;
      }
      node.sayMissing();
    }
  }

  private RedisNode node(RedisUri server) {
    return all.computeIfAbsent(
        RedisUri.name(server.host(), server.port()), name -> new RedisNode(server, common));
  }

  /** Finds out what all there are keep; false if this one does not say, or knows of none. */
  private boolean ask(RedisNode node) {
    Reply reply = node.ask(CLUSTER_BYTES, Command.CLUSTER, RedisConnection.bytes("NODES"));
    if (reply.is(Kind.ERROR)) {
      // The cluster's commands are switched off, not known, or not allowed: one server.
      slots = new RedisNode[] {node};
      return true;
    }
    @Nullable RedisNode[] found = new RedisNode[SLOTS];
    try {
      RedisConnection.text(reply.answer()).lines().forEach(line -> read(line, node, found));
    } catch (RuntimeException e) {
      return false; // No answer of a Redis.
    }
    boolean any = in(found).findAny().isPresent();
    if (any) {
      in(found).filter(owner -> !owner.tend()).forEach(RedisNode::sayDown);
      slots = found;
    }
    return any;
  }

  /** {@code ID IP:PORT@BUS[,HOST] FLAGS MASTER PING PONG EPOCH STATE SLOT SLOT-SLOT ...}. */
  private void read(String line, RedisNode asked, @Nullable RedisNode[] found) {
    String[] fields = line.split(" ", -1);
    if (fields.length < 9) {
      return; // A replica, or one that keeps nothing.
    }
    String[] address = fields[1].split("[@,]", -1);
    int colon = address[0].lastIndexOf(':');
    String ip = address[0].substring(0, colon);
    String host = address.length > 2 && !address[2].isEmpty() ? address[2] : ip;
    RedisUri by = asked.server;
    RedisNode owner =
        node(
            new RedisUri(
                by.secure(),
                host.isEmpty() ? by.host() : host, // It does not know its own name.
                Integer.parseInt(address[0].substring(colon + 1)),
                0,
                by.user(),
                by.password()));
    for (int i = 8; i < fields.length; i++) {
      String[] range = fields[i].split("-", -1);
      if (!range[0].startsWith("[")) { // Which is a slot that is moving.
        int last = Integer.parseInt(range[range.length - 1]);
        for (int slot = Integer.parseInt(range[0]); slot <= last; slot++) {
          found[slot] = owner;
        }
      }
    }
  }

  /** Says what the user should know of them, at the first meeting. */
  private void introduce(RedisNode first) {
    if (slots.length == 1 && seeds.size() > 1) {
      log.once("Redis at " + first.name + " is no cluster: the other addresses are not used.");
    }
    in(slots).forEach(this::introduceOne);
  }

  private void introduceOne(RedisNode node) {
    if (!node.server.secure() && !node.isLoopback()) {
      log.once(
          "plain",
          "Items go to Redis at "
              + node.name
              + " unencrypted"
              + (node.server.password() == null ? "" : ", and so does the password")
              + ": use rediss:// where the network is not yours alone.");
    }
    String info =
        RedisConnection.text(node.ask(0, Command.INFO, RedisConnection.bytes("memory")).answer());
    boolean told = info.contains(POLICY);
    if (!info.contains(POLICY + "noeviction")) {
      log.once(
          "policy",
          "Redis at "
              + node.name
              + (told
                  ? " has another maxmemory-policy than noeviction: when it is full it evicts, and"
                  : " does not tell its maxmemory-policy, expected noeviction: should it evict,")
              + " items are read from storage more than once.");
    }
  }

  /** Ends all connections that nobody uses. */
  void close() {
    all.values().forEach(RedisNode::close);
  }
}
