package io.coordl.peers.redis;

import io.coordl.host.AgentThread;
import io.coordl.items.ItemKey;
import io.coordl.peers.PeerSink;
import io.coordl.peers.PeerSink.Answer;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
import io.coordl.peers.redis.RedisNode.Fault;
import io.coordl.store.ArenaStore;
import io.coordl.store.Fetched;
import io.coordl.store.ItemStore;
import io.coordl.store.Loader;
import io.coordl.store.Outcome;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * The external engine: hosts share items through a Redis or Valkey that the user runs, a single
 * server or a cluster ({@link RedisServers}).
 *
 * <p><b>Lookup.</b> This host's store comes first and admits until it is full. On a miss, the
 * engine queries Redis. If Redis does not have the item either, one of the hosts reads storage and
 * puts the item into Redis. Once the local store is full, items from Redis are handed out without a
 * copy.
 *
 * <p><b>Claims.</b> A thread that wants to read storage first writes a claim in the item's place
 * ({@code SET NX PX}); the item itself replaces it. A thread that finds a claim waits up to {@link
 * ArenaStore#PATIENCE}, then reads storage itself. A thread that fails removes its claim. The claim
 * of a killed process expires after {@link #LEASE}, which is shorter than that patience, so another
 * thread takes over and the item is still cached. A claimant slower than its lease does no harm:
 * all copies of an item are equal, and a claim never replaces an item.
 *
 * <p><b>Full.</b> A Redis with {@code maxmemory-policy noeviction} acts as a MinIO cache: it
 * refuses writes when full, and the engine then only reads from it for ten seconds. A Redis that
 * evicts is used as well, with a warning. An item expires {@link #LIFETIME} after it was written,
 * which outlasts nearly every run.
 *
 * <p><b>Failures.</b> {@link Timeouts} bound each call; a server that is late or fails receives no
 * more requests until the agent's thread gets an answer ({@link RedisNode}). Until then, and while
 * a cluster moves slots, its items come from storage. An item that fails its checksum is read from
 * storage and rewritten. Each kind of trouble is logged once, never with the server's own text,
 * which might repeat the password.
 *
 * <p>Thread-safe; interrupts of the program's threads never break a call.
 */
public final class RedisEngine implements ItemStore, Closeable {
  /** Lifetime of a claim that is not removed. */
  static final Duration LEASE = Duration.ofSeconds(4);

  /** Lifetime of an item after it was written. */
  static final Duration LIFETIME = Duration.ofDays(7);

  /** Maximum time after opening that fetches wait for the first attempt to connect. */
  private static final long START_NANOS = 3_000_000_000L;

  private static final long CHECK_NANOS = 500_000_000L;
  private static final long SOON_NANOS = 50_000_000L;
  private static final long FIRST_PAUSE_NANOS = 200_000;
  private static final long LAST_PAUSE_NANOS = 10_000_000;

  /** Removes a claim if it still exists. */
  private static final String RELEASE =
      "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end";

  private final ItemStore local;
  private final String group;
  private final PeerSink sink;
  private final Watch watch = new Watch("coordl-redis-watch");
  final RedisServers servers;
  private final Thread background;
  private final long opened = System.nanoTime();
  private final long owner = UUID.randomUUID().getMostSignificantBits();
  private final AtomicLong claims = new AtomicLong();
  private volatile boolean attempted;
  private volatile boolean moved;
  private volatile boolean closed;

  /**
   * Opens the engine; returns immediately.
   *
   * @param seeds the server, or some nodes of one cluster, one of which must answer
   * @param tls the user's key and trusted certificates for {@code rediss:}; null to trust the JDK's
   *     certificates
   * @param group namespace of the items; groups share no items
   */
  public RedisEngine(
      List<RedisUri> seeds,
      @Nullable SSLContext tls,
      ItemStore local,
      String group,
      PeerSink sink,
      UserLog userLog,
      Timeouts timeouts) {
    this.local = local;
    this.group = group;
    this.sink = sink;
    servers =
        new RedisServers(seeds, new RedisNode.Common(tls, watch, timeouts, new OnceLog(userLog)));
    background = new AgentThread("coordl-redis", this::run);
    background.start();
  }

  // ---- the agent's thread

  private void run() {
    while (!closed) {
      try {
        boolean changed = moved;
        moved = false;
        servers.look(changed);
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
      attempted = true;
      if (!closed) {
        LockSupport.parkNanos(this, moved ? SOON_NANOS : CHECK_NANOS);
      }
    }
    servers.close();
    watch.close();
  }

  // ---- program threads

  @Override
  public @Nullable ByteBuffer find(ItemKey key) {
    return local.find(key);
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    ByteBuffer here = local.find(key);
    if (here != null) {
      return new Fetched(Outcome.HIT, here);
    }
    awaitStart();
    Fetch fetch = new Fetch(key, length, loader);
    Fetched fetched = local.fetch(key, length, fetch);
    Outcome took = fetch.took;
    ByteBuffer content = fetched.content();
    if (took == null && fetched.outcome() == Outcome.FULL && content == null) {
      return fetch.bypassLocalStore();
    }
    return (took == Outcome.PEER || took == Outcome.ADMITTED) && content != null
        ? new Fetched(took, content)
        : fetched;
  }

  private void awaitStart() {
    while (!attempted
        && !closed
        && System.nanoTime() - opened < START_NANOS
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, FIRST_PAUSE_NANOS);
    }
  }

  /** One fetch of one item, as the loader of this host's store. */
  private final class Fetch implements Loader {
    private final ItemKey key;
    private final int length;
    private final Loader storage;
    private final byte[] name;
    private final byte[] claim = RedisItem.claim(owner, claims.incrementAndGet());

    /** The outcome; null until the store calls this loader. */
    private @Nullable Outcome took;

    /** The item as stored in Redis, once it is available. */
    private byte[] value = {};

    Fetch(ItemKey key, int length, Loader storage) {
      this.key = key;
      this.length = length;
      this.storage = storage;
      this.name = RedisItem.key(group, key);
    }

    @Override
    public boolean load(byte[] target, int offset) throws IOException {
      took = take();
      if (took == Outcome.BUSY) {
        return storage.load(target, offset);
      }
      if (took == Outcome.CHANGED) {
        return false;
      }
      System.arraycopy(value, RedisItem.HEADER_BYTES, target, offset, length);
      return true;
    }

    /**
     * Fetches an item for which the local store is full: from Redis, or from storage into Redis.
     */
    Fetched bypassLocalStore() throws IOException {
      Outcome outcome = take();
      return switch (outcome) {
        case BUSY -> new Fetched(Outcome.FULL, null);
        case CHANGED -> new Fetched(outcome, null);
        default -> new Fetched(outcome, RedisItem.content(value));
      };
    }

    /**
     * Gets the item.
     *
     * @return PEER if from Redis; ADMITTED if from storage and cached by Redis; FULL if from
     *     storage and not cached; CHANGED if {@code storage} reported that; BUSY if no server had
     *     it and storage was not read
     */
    private Outcome take() throws IOException {
      long deadline = System.nanoTime() + ArenaStore.PATIENCE.toNanos();
      long pause = FIRST_PAUSE_NANOS;
      for (boolean first = true; !closed; first = false) {
        RedisNode node = servers.of(name);
        if (node == null) {
          return Outcome.BUSY;
        }
        long start = System.nanoTime();
        Object answer = node.ask(RedisItem.HEADER_BYTES + length, Command.GET, name);
        if (answer instanceof Fault fault && !fault.code().equals("WRONGTYPE")) {
          return refused(node, start, fault);
        }
        byte[] found = answer instanceof byte[] bytes ? bytes : value;
        if (RedisItem.isItem(found, key, length)) {
          value = found;
          report(node, start, length, Answer.FOUND);
          return Outcome.PEER;
        }
        boolean claimed = RedisItem.isClaim(found);
        boolean isOwnClaim = Arrays.equals(found, claim);
        if (answer != null && !claimed) {
          report(node, start, 0, Answer.FAILED);
          node.logOnce(
              "foreign",
              " has a damaged item, or other data under its key: the item is read from storage and"
                  + " rewritten.");
        } else if (first) {
          report(node, start, 0, Answer.ABSENT);
        }
        if (!claimed && node.full()) {
          return Outcome.BUSY;
        }
        if (answer == null) {
          start = System.nanoTime();
          answer = node.ask(0, Command.SET, name, claim, "NX", "PX", LEASE.toMillis());
          if (answer instanceof Fault fault) {
            return refused(node, start, fault);
          }
          claimed = answer == null;
        }
        if (isOwnClaim || !claimed) {
          return read(node);
        }
        if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
          return Outcome.BUSY;
        }
        LockSupport.parkNanos(this, pause);
        pause = Math.min(LAST_PAUSE_NANOS, pause * 2);
      }
      return Outcome.BUSY;
    }

    /** Reads storage and stores the item in Redis. */
    private Outcome read(RedisNode node) throws IOException {
      boolean kept = false;
      try {
        byte[] item = ArenaStore.buffer(RedisItem.HEADER_BYTES + length);
        if (item == null) {
          return Outcome.BUSY;
        }
        if (!storage.load(item, RedisItem.HEADER_BYTES)) {
          return Outcome.CHANGED;
        }
        value = item;
        RedisItem.seal(value, key);
        long start = System.nanoTime();
        Object answer = node.ask(value.length, Command.SET, name, value, "PX", LIFETIME.toMillis());
        if (answer instanceof Fault fault) {
          refused(node, start, fault);
        } else {
          kept = true;
          report(node, start, length, Answer.KEPT);
        }
        return kept ? Outcome.ADMITTED : Outcome.FULL;
      } finally {
        if (!kept) {
          // If this fails, the claim expires with its lease.
          node.ask(0, Command.EVAL, RELEASE, "1", name, claim);
        }
      }
    }
  }

  /** Handles a missing answer or an error: moved, full, or not allowed. */
  private Outcome refused(RedisNode node, long start, Fault fault) {
    if (fault.heard() != null) {
      report(node, start, 0, fault.heard());
    }
    String code = fault.code();
    if (code.equals("MOVED") || code.equals("ASK")) {
      moved = true;
      LockSupport.unpark(background);
    } else if (!code.isEmpty()) {
      node.refused();
      node.logOnce(
          "refused " + code,
          code.equals("OOM")
              ? " is full: it keeps the items it has; the others are read from storage."
              : " answers " + code + ": the items concerned are read from storage.");
    }
    return Outcome.BUSY;
  }

  private void report(RedisNode node, long start, long bytes, Answer answer) {
    sink.asked(node.name, start, System.nanoTime(), bytes, answer);
  }

  /** Stops the engine; calls in progress end as if the server had died. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(background);
  }
}
