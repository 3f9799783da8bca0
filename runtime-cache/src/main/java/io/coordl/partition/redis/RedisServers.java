package io.coordl.partition.redis;

import io.coordl.partition.HostPort;
import io.coordl.partition.redis.RedisNode.Fault;
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
  private final Map<HostPort, RedisNode> all = new HashMap<>();

  /** By slot, null if nobody has it; one entry where one server keeps all; empty as yet. */
  private volatile @Nullable RedisNode[] slots = {};

  RedisServers(List<RedisUri> seeds, RedisNode.Common common) {
    this.seeds = List.copyOf(seeds);
    this.common = common;
  }

  private static Stream<RedisNode> in(@Nullable RedisNode[] slots) {
    return Stream.of(slots).filter(Objects::nonNull).distinct();
  }

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
   * Looks whether those that are down are back, and in a cluster asks who keeps what; {@code
   * moved}: a server has said that this has changed.
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
        if (slots.length == 1 && seeds.size() > 1) {
          node.say("single", " is no cluster: the other addresses are not used.");
        }
        in(slots).forEach(this::introduce);
        return;
      }
      node.sayMissing();
    }
  }

  private RedisNode node(RedisUri uri) {
    return all.computeIfAbsent(uri.server(), name -> new RedisNode(uri, common));
  }

  /**
   * Finds out what all there are keep, and leaves those that keep nothing; false if this one does
   * not say, or knows of none.
   */
  private boolean ask(RedisNode node) {
    Object answer = node.ask(CLUSTER_BYTES, Command.CLUSTER, "NODES");
    if (answer instanceof Fault fault && !fault.code().isEmpty()) {
      // The cluster's commands are switched off, not known, or not allowed: one server.
      slots = new RedisNode[] {node};
      return true;
    }
    @Nullable RedisNode[] found = new RedisNode[SLOTS];
    try {
      RedisConnection.text(answer).lines().forEach(line -> read(line, node.uri, found));
    } catch (RuntimeException e) {
      return false; // No answer of a Redis.
    }
    boolean any = in(found).findAny().isPresent();
    if (any) {
      in(found).filter(owner -> !owner.tend()).forEach(RedisNode::sayDown);
      slots = found;
      List<RedisNode> owners = in(found).toList();
      all.values().stream().filter(other -> !owners.contains(other)).forEach(RedisNode::close);
      all.values().retainAll(owners);
    }
    return any;
  }

  /** {@code ID IP:PORT@BUS[,HOST] FLAGS MASTER PING PONG EPOCH STATE SLOT SLOT-SLOT ...}. */
  private void read(String line, RedisUri asked, @Nullable RedisNode[] found) {
    String[] fields = line.split(" ", -1);
    if (fields.length < 9) {
      return; // A replica, or one that keeps nothing.
    }
    String[] address = fields[1].split("[@,]", -1);
    int colon = address[0].lastIndexOf(':');
    String ip = address[0].substring(0, colon);
    String host = address.length > 2 && !address[2].isEmpty() ? address[2] : ip;
    int port = Integer.parseInt(address[0].substring(colon + 1));
    // One without a host does not know its own name.
    HostPort server = new HostPort(host.isEmpty() ? asked.server().host() : host, port);
    RedisNode owner = node(new RedisUri(asked.secure(), server, 0, asked.user(), asked.password()));
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

  /** Says what the user should know of a server, at the first meeting. */
  private void introduce(RedisNode node) {
    if (!node.uri.secure() && !node.isLoopback()) {
      String secret = node.uri.password() == null ? "" : ", and the password";
      node.say(
          "plain",
          " gets the items"
              + secret
              + " unencrypted: use rediss:// where the network is not yours alone.");
    }
    String info = RedisConnection.text(node.ask(0, Command.INFO, "memory"));
    if (!info.contains(POLICY + "noeviction")) {
      String policy =
          info.contains(POLICY)
              ? " has another maxmemory-policy than noeviction: when it is full it evicts, and"
              : " does not tell its maxmemory-policy, expected noeviction: should it evict,";
      node.say("policy", policy + " items are read from storage more than once.");
    }
  }

  void close() {
    all.values().forEach(RedisNode::close);
  }
}
