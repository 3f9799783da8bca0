package io.coordl.partition.redis;

import io.coordl.partition.redis.RedisNode.Unavailable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Finds the servers: asks those that the user named, whether they are a cluster, and in time
 * whether they are (still) there. Used by one thread of the agent alone.
 */
final class RedisDirectory {
  private static final long CLUSTER_BYTES = 1 << 20;

  private final List<RedisUri> seeds;
  private final RedisLinks links;
  private final RedisEngine.Words words;
  private final Consumer<RedisNode> failed;
  private final Map<String, RedisNode> nodes = new HashMap<>();

  RedisDirectory(
      List<RedisUri> seeds, RedisLinks links, RedisEngine.Words words, Consumer<RedisNode> failed) {
    if (seeds.isEmpty()) {
      throw new IllegalArgumentException("No server is named.");
    }
    this.seeds = List.copyOf(seeds);
    this.links = links;
    this.words = words;
    this.failed = failed;
  }

  /**
   * Asks those that are down, and one that is up where all are.
   *
   * @param known what was found before
   * @return what is so now; null if nobody answers who knows
   */
  @Nullable RedisMap look(@Nullable RedisMap known) {
    if (known != null) {
      for (RedisNode node : known.nodes()) {
        if (!node.up()) {
          node.probe();
        }
      }
      if (!known.isCluster()) {
        return known;
      }
      for (RedisNode node : known.nodes()) {
        RedisMap found = node.up() ? ask(node) : null;
        if (found != null) {
          return found;
        }
      }
    }
    for (RedisUri seed : seeds) {
      RedisNode node = node(seed);
      RedisMap found = node.probe() ? ask(node) : null;
      if (found != null) {
        introduce(node, found);
        return found;
      }
      words.once(
          "start " + node.name(),
          "Redis at "
              + node.name()
              + " is not there yet ("
              + node.trouble()
              + "): items are read from storage until it is.");
    }
    return null;
  }

  private RedisNode node(RedisUri server) {
    return nodes.computeIfAbsent(
        RedisUri.name(server.host(), server.port()), name -> new RedisNode(server, links, failed));
  }

  /** What all there are keep; null if this one does not say, or knows of none. */
  private @Nullable RedisMap ask(RedisNode node) {
    Object answer;
    try {
      answer = node.ask(CLUSTER_BYTES, link -> link.ask(Command.CLUSTER, "SLOTS"));
    } catch (JedisDataException e) {
      // The cluster's commands are switched off, not known, or not allowed: one server.
      return RedisMap.of(node);
    } catch (Unavailable e) {
      return null;
    }
    @Nullable RedisNode[] slots = RedisMap.table();
    List<RedisNode> found = new ArrayList<>();
    try {
      for (Object range : (List<?>) answer) {
        List<?> parts = (List<?>) range;
        List<?> primary = (List<?>) parts.get(2);
        String host = RedisLink.text(primary.get(0));
        RedisUri asked = node.server();
        RedisNode owner =
            node(
                new RedisUri(
                    asked.secure(),
                    host.isEmpty() || host.equals("null") || host.equals("?") ? asked.host() : host,
                    ((Long) primary.get(1)).intValue(),
                    0,
                    asked.user(),
                    asked.password()));
        if (!found.contains(owner)) {
          found.add(owner);
        }
        for (long slot = (Long) parts.get(0); slot <= (Long) parts.get(1); slot++) {
          slots[(int) slot] = owner;
        }
      }
    } catch (RuntimeException e) {
      return null;
    }
    for (RedisNode owner : found) {
      if (!owner.up() && !owner.probe()) {
        failed.accept(owner);
      }
    }
    return found.isEmpty() ? null : RedisMap.of(found, slots);
  }

  /** Says what the user should know of them, at the first meeting. */
  private void introduce(RedisNode first, RedisMap found) {
    if (!found.isCluster() && seeds.size() > 1) {
      words.once(
          "several",
          "Redis at " + first.name() + " is no cluster: the other addresses are not used.");
    }
    for (RedisNode node : found.nodes()) {
      if (!node.server().secure() && !node.isLoopback()) {
        words.once(
            "plain",
            "Items go to Redis at "
                + node.name()
                + " unencrypted"
                + (node.server().password() == null ? "" : ", and so does the password")
                + ": use rediss:// where the network is not yours alone.");
      }
      String policy = policy(node);
      if (policy == null) {
        words.once(
            "policy",
            "Redis at "
                + node.name()
                + " does not tell its maxmemory-policy, expected noeviction: should it evict,"
                + " items are read from storage more than once.");
      } else if (!policy.equals("noeviction")) {
        words.once(
            "policy",
            "Redis at "
                + node.name()
                + " has another maxmemory-policy than noeviction: when it is full it evicts, and"
                + " items are read from storage more than once.");
      }
    }
  }

  private static @Nullable String policy(RedisNode node) {
    try {
      Object answer = node.ask(0, link -> link.ask(Command.CONFIG, "GET", "maxmemory-policy"));
      return answer instanceof List<?> list && list.size() == 2
          ? RedisLink.text(list.get(1))
          : null;
    } catch (JedisDataException | Unavailable e) {
      return null;
    }
  }
}
