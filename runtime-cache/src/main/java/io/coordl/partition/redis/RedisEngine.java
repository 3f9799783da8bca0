package io.coordl.partition.redis;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.ItemStore;
import io.coordl.cache.Loader;
import io.coordl.cache.Outcome;
import io.coordl.partition.Engine;
import io.coordl.partition.PeerSink;
import io.coordl.partition.PeerSink.Answer;
import io.coordl.partition.Timeouts;
import io.coordl.partition.UserLog;
import io.coordl.partition.Watch;
import io.coordl.partition.redis.RedisNode.Kind;
import io.coordl.partition.redis.RedisNode.Reply;
import io.coordl.thread.AgentThread;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * The external engine: what hosts have read lies in a Redis or Valkey that the user runs, a server
 * or a cluster ({@link RedisServers}).
 *
 * <p><b>An item's way.</b> The store of this host comes first and admits as it always does, until
 * it is full. What is not there is asked for in Redis, and what is not there either is read from
 * storage, by one of all hosts, and put there. Once the store is full, an item from Redis is handed
 * out as it came, without a copy.
 *
 * <p><b>Claims.</b> A thread that wants to read storage writes a claim in the item's place ({@code
 * SET NX PX}); the item itself replaces it. A claim that is abandoned is removed if it is still
 * there; that of a killed process goes when its {@link #LEASE} runs out. A thread that finds a
 * claim waits up to {@link ArenaStore#PATIENCE}, then reads storage itself. The lease is shorter,
 * so somebody takes over from the dead, and the item is kept after all. A claimant that is slower
 * than its lease does no harm: items are equal, and an item is never replaced by a claim.
 *
 * <p><b>Full.</b> A Redis with {@code maxmemory-policy noeviction} is the MinIO cache: it refuses
 * when it is full. After a refusal that server is only read from for ten seconds. One that evicts
 * is said to do so, and used. An item goes {@link #LIFETIME} after it was written, longer than
 * nearly every run; reading it does not change it, so the server has nothing to replicate or to
 * log.
 *
 * <p><b>Failures.</b> Each call is bounded by {@link Timeouts}; a server that is late or fails is
 * not asked again until the agent's thread has had an answer ({@link RedisNode}). In the meantime
 * items come from storage, as they do when a cluster moves slots about. What does not pass its
 * checksum is read from storage and written anew. Each kind of trouble is said once, and never with
 * a word of the server's own, which might repeat the password.
 *
 * <p>Thread-safe; on threads of the program never interruptible.
 */
public final class RedisEngine implements Engine {
  /** How long a claim holds that nobody ends. */
  static final Duration LEASE = Duration.ofSeconds(4);

  /** How long an item is kept after it was written. */
  static final Duration LIFETIME = Duration.ofDays(7);

  /** So long, from opening on, items wait for the first attempt to connect. */
  private static final long START_NANOS = 3_000_000_000L;

  private static final long LOOK_NANOS = 500_000_000L;
  private static final long SOON_NANOS = 50_000_000L;
  private static final long FIRST_PAUSE_NANOS = 200_000;
  private static final long LAST_PAUSE_NANOS = 10_000_000;
  private static final byte[] NX = RedisConnection.bytes("NX");
  private static final byte[] PX = RedisConnection.bytes("PX");
  private static final byte[] LEASE_MILLIS = RedisConnection.bytes("" + LEASE.toMillis());
  private static final byte[] LIFETIME_MILLIS = RedisConnection.bytes("" + LIFETIME.toMillis());
  private static final byte[] ONE = RedisConnection.bytes("1");

  /** Removes a claim if it is still there. */
  private static final byte[] RELEASE =
      RedisConnection.bytes(
          "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end");

  private final ItemStore local;
  private final String group;
  private final PeerSink sink;
  private final UserLog log;
  private final Watch watch = new Watch("coordl-redis-watch");
  private final RedisServers servers;
  private final Thread background;
  private final long opened = System.nanoTime();
  private final long owner = UUID.randomUUID().getMostSignificantBits();
  private final AtomicLong claims = new AtomicLong();
  private volatile boolean attempted;
  private volatile boolean moved;
  private volatile boolean closed;

  /** An engine with other times than the usual. */
  RedisEngine(
      List<RedisUri> seeds,
      @Nullable SSLContext tls,
      ItemStore local,
      String group,
      PeerSink sink,
      Consumer<String> words,
      Timeouts timeouts) {
    this.local = local;
    this.group = group;
    this.sink = sink;
    log = new UserLog(words);
    servers = new RedisServers(seeds, new RedisNode.Common(tls, watch, timeouts, log));
    background = new AgentThread("coordl-redis", this::run);
    background.start();
  }

  /**
   * Opens the engine; returns at once.
   *
   * @param seeds the server, or some of the nodes of one cluster, of which one that answers is
   *     enough
   * @param tls own key and trusted certificates for {@code rediss:}; null for those of the JDK
   * @param local this host's own store, which is asked first
   * @param group items of another group are others
   * @param sink hears of what is asked
   * @param words takes sentences for the user
   */
  public static RedisEngine open(
      List<RedisUri> seeds,
      @Nullable SSLContext tls,
      ItemStore local,
      String group,
      PeerSink sink,
      Consumer<String> words) {
    return new RedisEngine(seeds, tls, local, group, sink, words, Timeouts.usual());
  }

  // ---- the thread of the agent

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
        LockSupport.parkNanos(this, moved ? SOON_NANOS : LOOK_NANOS);
      }
    }
    servers.close();
    watch.close();
  }

  /** Whether all servers answer. */
  boolean isUp() {
    return servers.up();
  }

  // ---- threads of the program

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    awaitStart();
    Fetch fetch = new Fetch(key, length, loader);
    Fetched fetched = local.fetch(key, length, fetch);
    Outcome took = fetch.took;
    ByteBuffer content = fetched.content();
    if (took == null && fetched.outcome() == Outcome.FULL && content == null) {
      return fetch.past();
    }
    boolean shared = took == Outcome.PEER || took == Outcome.ADMITTED;
    return shared && took != null && content != null ? new Fetched(took, content) : fetched;
  }

  private void awaitStart() {
    while (!attempted
        && !closed
        && System.nanoTime() - opened < START_NANOS
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, FIRST_PAUSE_NANOS);
    }
  }

  /** What was found in an item's place. */
  private enum Sight {
    ITEM,
    NOTHING,
    /** Another's claim. */
    CLAIMED,
    /** The claim of this very call. */
    MINE,
    /** Something that is not the item, nor a claim. */
    FOREIGN,
    /** There was no answer, or none to be had. */
    NOT_ASKED
  }

  /** One fetch of one item; what the host's own store reads it by. */
  private final class Fetch implements Loader {
    private final ItemKey key;
    private final int length;
    private final Loader storage;
    private final byte[] name;
    private final byte[] claim = RedisItem.claim(owner, claims.incrementAndGet());

    /** What came of it; null as long as nobody wanted it. */
    private @Nullable Outcome took;

    /** The item as it lies in Redis, once it is had. */
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

    /** The item of a full host: from Redis to the program, or from storage to both. */
    Fetched past() throws IOException {
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
     * @return PEER if from Redis; ADMITTED if from storage, and Redis keeps it; FULL if from
     *     storage, and it does not; CHANGED if {@code storage} said so; BUSY if nobody was found
     *     who had it, and storage was not read
     */
    private Outcome take() throws IOException {
      long deadline = System.nanoTime() + ArenaStore.PATIENCE.toNanos();
      long pause = FIRST_PAUSE_NANOS;
      for (boolean first = true; !closed; first = false) {
        RedisNode node = servers.of(name);
        if (node == null) {
          return Outcome.BUSY;
        }
        Sight seen = look(node, first);
        if (seen == Sight.NOTHING && !node.full()) {
          seen = claim(node);
        }
        if (seen == Sight.ITEM) {
          return Outcome.PEER;
        }
        if (seen == Sight.MINE || (seen == Sight.FOREIGN && !node.full())) {
          return read(node);
        }
        if (seen != Sight.CLAIMED
            || System.nanoTime() - deadline >= 0
            || Thread.currentThread().isInterrupted()) {
          return Outcome.BUSY;
        }
        LockSupport.parkNanos(this, pause);
        pause = Math.min(LAST_PAUSE_NANOS, pause * 2);
      }
      return Outcome.BUSY;
    }

    private Sight look(RedisNode node, boolean first) {
      long start = System.nanoTime();
      Reply reply = node.ask(RedisItem.HEADER_BYTES + length, Command.GET, name);
      byte[] found = reply.answer() instanceof byte[] bytes ? bytes : null;
      if (found != null && RedisItem.isItem(found, key, length)) {
        value = found;
        heard(node, start, length, Answer.FOUND);
        return Sight.ITEM;
      }
      boolean nothing = reply.is(Kind.ANSWER) && reply.answer() == null;
      if (nothing || (found != null && RedisItem.isClaim(found))) {
        if (first) {
          heard(node, start, 0, Answer.ABSENT);
        }
        return nothing ? Sight.NOTHING : Arrays.equals(found, claim) ? Sight.MINE : Sight.CLAIMED;
      }
      if (!reply.is(Kind.ANSWER)
          && !reply.is(Kind.TOO_LONG)
          && !"WRONGTYPE".equals(reply.answer())) {
        return refused(node, start, reply);
      }
      heard(node, start, 0, Answer.FAILED);
      log.once(
          "foreign",
          "Redis at "
              + node.name
              + " has something else in an item's place, or a damaged item: it is read from storage"
              + " and written anew.");
      return Sight.FOREIGN;
    }

    private Sight claim(RedisNode node) {
      long start = System.nanoTime();
      Reply reply = node.ask(0, Command.SET, name, claim, NX, PX, LEASE_MILLIS);
      if (!reply.is(Kind.ANSWER)) {
        return refused(node, start, reply);
      }
      return reply.answer() == null ? Sight.CLAIMED : Sight.MINE;
    }

    /** Reads storage, and has Redis keep what came. */
    private Outcome read(RedisNode node) throws IOException {
      boolean kept = false;
      try {
        if (!allocate()) {
          return Outcome.BUSY;
        }
        if (!storage.load(value, RedisItem.HEADER_BYTES)) {
          return Outcome.CHANGED;
        }
        RedisItem.seal(value, key);
        long start = System.nanoTime();
        Reply reply = node.ask(value.length, Command.SET, name, value, PX, LIFETIME_MILLIS);
        kept = reply.is(Kind.ANSWER);
        if (kept) {
          heard(node, start, length, Answer.KEPT);
        } else {
          refused(node, start, reply);
        }
        return kept ? Outcome.ADMITTED : Outcome.FULL;
      } finally {
        if (!kept) {
          // If that fails, the claim's lease runs out.
          node.ask(0, Command.EVAL, RELEASE, ONE, name, claim);
        }
      }
    }

    /** False where the program has left no heap for the item: its own call may need less. */
    private boolean allocate() {
      try {
        value = RedisItem.allocate(length);
        return true;
      } catch (OutOfMemoryError e) {
        return false;
      }
    }
  }

  /** No answer, or one that is an error: moved, full, or not allowed. */
  private Sight refused(RedisNode node, long start, Reply reply) {
    if (!reply.is(Kind.NOT_ASKED)) {
      heard(node, start, 0, reply.is(Kind.LATE) ? Answer.LATE : Answer.FAILED);
    }
    String code = String.valueOf(reply.answer());
    if (code.equals("MOVED") || code.equals("ASK")) {
      moved = true;
      LockSupport.unpark(background);
    } else if (reply.is(Kind.ERROR)) {
      node.refused();
      log.once(
          "refused " + code,
          code.equals("OOM")
              ? "Redis at "
                  + node.name
                  + " is full: what it has stays, what it has no room for is read from storage."
              : "Redis at "
                  + node.name
                  + " answers "
                  + code
                  + ": what it does not give or take is read from storage.");
    }
    return Sight.NOT_ASKED;
  }

  private void heard(RedisNode node, long start, long bytes, Answer answer) {
    sink.asked(node.name, start, System.nanoTime(), bytes, answer);
  }

  /** Ends what the engine does; calls that are under way end like those of a dead server. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(background);
  }
}
