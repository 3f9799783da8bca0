package io.coordl.peers.redis;

import io.coordl.peers.HostPort;
import io.coordl.peers.redis.RedisNode.Fault;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Maps keys to servers: to the only one or, in a cluster, to the owner of the key's slot. One agent
 * thread updates the map; any thread may query it.
 */
final class RedisServers {
  private static final int SLOTS = 16384;
  private static final int CLUSTER_BYTES = 1 << 20;
  private static final String POLICY = "maxmemory_policy:";

  private final List<RedisUri> seeds;
  private final RedisNode.Common common;
  private final Map<HostPort, RedisNode> all = new HashMap<>();

  /**
   * Owner of each slot, null if none; a single entry for a single server; empty until a server is
   * found.
   */
  private volatile @Nullable RedisNode[] slots = {};

  RedisServers(List<RedisUri> seeds, RedisNode.Common common) {
    this.seeds = List.copyOf(seeds);
    this.common = common;
  }

  private static Stream<RedisNode> in(@Nullable RedisNode[] slots) {
    return Stream.of(slots).filter(Objects::nonNull).distinct();
  }

  boolean up() {
    @Nullable RedisNode[] current = slots;
    return current.length > 0 && in(current).allMatch(RedisNode::up);
  }

  /** Returns the server of a key; null if its slot has no owner, or no server was found yet. */
  @Nullable RedisNode of(byte[] key) {
    @Nullable RedisNode[] current = slots;
    return switch (current.length) {
      case 0 -> null;
      case 1 -> current[0];
      default -> current[JedisClusterCRC16.getSlot(key)];
    };
  }

  /**
   * Probes servers that are down and, in a cluster, updates the slot owners; {@code moved} is true
   * if a server has reported a change.
   */
  void look(boolean moved) {
    @Nullable RedisNode[] current = slots;
    boolean wereUp = up();
    in(current).forEach(RedisNode::tend);
    if (current.length == 1 || (wereUp && !moved) || in(current).anyMatch(this::readOwners)) {
      return;
    }
    for (RedisUri seed : seeds) {
      RedisNode node = node(seed);
      if (node.tend() && readOwners(node)) {
        if (slots.length == 1 && seeds.size() > 1) {
          node.logOnce("single", " is not a cluster: the other addresses are not used.");
        }
        in(slots).forEach(this::introduce);
        return;
      }
      node.logMissing();
    }
  }

  private RedisNode node(RedisUri uri) {
    return all.computeIfAbsent(uri.server(), name -> new RedisNode(uri, common));
  }

  /**
   * Reads the slot owners from one node and drops servers without slots; false if the node does not
   * answer or knows no owner.
   */
  private boolean readOwners(RedisNode node) {
    Object answer = node.ask(CLUSTER_BYTES, Command.CLUSTER, "NODES");
    if (answer instanceof Fault fault && !fault.code().isEmpty()) {
      // Cluster commands are disabled, unknown, or not permitted: a single server.
      slots = new RedisNode[] {node};
      return true;
    }
    @Nullable RedisNode[] ownerBySlot = new RedisNode[SLOTS];
    try {
      RedisConnection.text(answer).lines().forEach(line -> read(line, node.uri, ownerBySlot));
    } catch (RuntimeException e) {
      return false; // Not a Redis answer.
    }
    boolean any = in(ownerBySlot).findAny().isPresent();
    if (any) {
      in(ownerBySlot).filter(owner -> !owner.tend()).forEach(RedisNode::logDown);
      slots = ownerBySlot;
      List<RedisNode> owners = in(ownerBySlot).toList();
      all.values().stream().filter(other -> !owners.contains(other)).forEach(RedisNode::close);
      all.values().retainAll(owners);
    }
    return any;
  }

  /** Parses {@code ID IP:PORT@BUS[,HOST] FLAGS MASTER PING PONG EPOCH STATE SLOT SLOT-SLOT ...}. */
  private void read(String line, RedisUri source, @Nullable RedisNode[] ownerBySlot) {
    String[] fields = line.split(" ", -1);
    if (fields.length < 9) {
      return; // A replica, or a node without slots.
    }
    String[] address = fields[1].split("[@,]", -1);
    int colon = address[0].lastIndexOf(':');
    String ip = address[0].substring(0, colon);
    String host = address.length > 2 && !address[2].isEmpty() ? address[2] : ip;
    int port = Integer.parseInt(address[0].substring(colon + 1));
    // An empty host means that the node does not know its own name.
    HostPort server = new HostPort(host.isEmpty() ? source.server().host() : host, port);
    RedisNode owner =
        node(new RedisUri(source.secure(), server, 0, source.user(), source.password()));
    for (int i = 8; i < fields.length; i++) {
      String[] range = fields[i].split("-", -1);
      if (!range[0].startsWith("[")) { // A bracket marks a slot that is moving.
        int last = Integer.parseInt(range[range.length - 1]);
        for (int slot = Integer.parseInt(range[0]); slot <= last; slot++) {
          ownerBySlot[slot] = owner;
        }
      }
    }
  }

  /** Logs warnings about a server when it first answers. */
  private void introduce(RedisNode node) {
    if (!node.uri.secure() && !node.isLoopback()) {
      String secret = node.uri.password() == null ? "" : " and the password";
      node.logOnce(
          "plain",
          " gets the items"
              + secret
              + " unencrypted: use rediss:// unless the network is yours alone.");
    }
    String info = RedisConnection.text(node.ask(0, Command.INFO, "memory"));
    if (!info.contains(POLICY + "noeviction")) {
      String policy =
          info.contains(POLICY)
              ? " has a maxmemory-policy other than noeviction: it evicts when full, and"
              : " does not report its maxmemory-policy (expected: noeviction): if it evicts,";
      node.logOnce("policy", policy + " items are read from storage more than once.");
    }
  }

  void close() {
    all.values().forEach(RedisNode::close);
  }
}
