package io.coordl.partition.redis;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.ItemStore;
import io.coordl.cache.Loader;
import io.coordl.cache.Outcome;
import io.coordl.partition.Engine;
import io.coordl.partition.Patience;
import io.coordl.partition.PeerSink;
import io.coordl.partition.PeerSink.Answer;
import io.coordl.partition.redis.RedisNode.Unavailable;
import io.coordl.thread.AgentThread;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * The external engine: what hosts have read lies in a Redis or Valkey that the user runs, a server
 * or a cluster, which it finds out by itself.
 *
 * <h2>An item's way</h2>
 *
 * <p>The store of this host comes first and admits as it always does, until it is full; what is not
 * there is asked for in Redis, and what is not there either is read from storage, by one of all
 * hosts, and put there. So Redis holds the data set, as far as it has room, and each host as much
 * of it as its own memory has room for, where a hit costs a tenth. Once the store of the host is
 * full, an item from Redis is handed out as it came, without being copied.
 *
 * <h2>Claims</h2>
 *
 * <p>Who wants to read storage writes a claim in the item's place ({@code SET NX PX}); the item
 * itself replaces it. A claim that is abandoned is removed if it is still there; that of a killed
 * process goes when its {@link #LEASE} runs out. Who meets a claim looks again and again, at most
 * for {@link ArenaStore#PATIENCE}, and then reads storage himself. The lease is shorter than that,
 * so somebody takes over from the dead, and the item is kept after all. A claimant who is slower
 * than his lease does no harm: items are equal, and an item is never replaced by a claim.
 *
 * <h2>Full</h2>
 *
 * <p>A Redis with {@code maxmemory-policy noeviction} is the MinIO cache: it refuses when it is
 * full. After a refusal that server is only read from for ten seconds. One that evicts is said to
 * do so, and used.
 *
 * <h2>How long items stay</h2>
 *
 * <p>Redis outlives the job, and {@code peer=redis:} asks it to keep the items; but for good nobody
 * asked. So an item goes {@link #LIFETIME} after it was written: longer than nearly every run, and
 * a run that is longer reads each item once more. Reading an item does not change it, so the server
 * has nothing to replicate or to log. {@code redis-cli --scan --pattern 'coordl:1:GROUP:*' | xargs
 * redis-cli unlink} removes a group's at once.
 *
 * <h2>Failures</h2>
 *
 * <p>Connecting is bounded by 300 ms, an answer by {@link #PATIENCE} without a byte moving ({@link
 * WatchedSocket}); whoever is late or fails is not asked again until a thread of the agent, which
 * looks each second, has had an answer. In the meantime items come from storage, as they do when a
 * cluster moves slots about. What does not pass its checksum is read from storage and written anew.
 * Each kind of trouble is said once, and never with a word of the server's own, which might repeat
 * the password.
 *
 * <p>Thread-safe; on threads of the program never interruptible.
 */
public final class RedisEngine implements Engine {
  /** How long a claim holds that nobody ends. */
  static final Duration LEASE = Duration.ofSeconds(4);

  /** How long an item is kept after it was written. */
  static final Duration LIFETIME = Duration.ofDays(7);

  /** How long an answer may be missing. */
  static final Duration PATIENCE = Duration.ofMillis(400);

  /** So long, from opening on, items wait for the first attempt to connect. */
  private static final long START_NANOS = 3_000_000_000L;

  private static final long PROBE_NANOS = 1_000_000_000L;
  private static final long LEAST_PROBE_NANOS = 50_000_000L;
  private static final long FIRST_PAUSE_NANOS = 200_000;
  private static final long LAST_PAUSE_NANOS = 10_000_000;
  private static final byte[] NX = ascii("NX");
  private static final byte[] PX = ascii("PX");
  private static final byte[] LEASE_MILLIS = ascii(Long.toString(LEASE.toMillis()));
  private static final byte[] LIFETIME_MILLIS = ascii(Long.toString(LIFETIME.toMillis()));

  /** Removes a claim if it is still there. */
  private static final byte[] RELEASE =
      ascii("if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end");

  private static final byte[] ONE = ascii("1");

  private final ItemStore local;
  private final String group;
  private final PeerSink sink;
  private final Words words;
  private final RedisLinks links;
  private final RedisDirectory directory;
  private final Thread background;
  private final long opened = System.nanoTime();
  private final long owner = UUID.randomUUID().getMostSignificantBits();
  private final AtomicLong claims = new AtomicLong();
  private volatile @Nullable RedisMap map;
  private volatile boolean attempted;
  private volatile boolean stale;
  private volatile boolean closed;

  private RedisEngine(
      List<RedisUri> seeds,
      @Nullable SSLContext tls,
      ItemStore local,
      String group,
      PeerSink sink,
      Consumer<String> words,
      Duration patience) {
    this.local = local;
    this.group = group;
    this.sink = sink;
    this.words = new Words(words);
    this.links = new RedisLinks(tls, patience);
    this.directory = new RedisDirectory(seeds, links, this.words, this::failed);
    this.background = new AgentThread("coordl-redis", this::run);
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
    return open(seeds, tls, local, group, sink, words, Patience.of(PATIENCE));
  }

  /** As above, with another patience for answers. */
  static RedisEngine open(
      List<RedisUri> seeds,
      @Nullable SSLContext tls,
      ItemStore local,
      String group,
      PeerSink sink,
      Consumer<String> words,
      Duration patience) {
    RedisEngine engine = new RedisEngine(seeds, tls, local, group, sink, words, patience);
    engine.background.start();
    return engine;
  }

  // ---- the thread of the agent

  private void run() {
    while (!closed) {
      try {
        look();
      } catch (RuntimeException | LinkageError e) {
        words.once("broken", "Redis cannot be used (" + e.getClass().getName() + ").");
      } catch (Error e) {
        AgentThread.survive(e);
      }
      attempted = true;
      if (!closed) {
        LockSupport.parkNanos(this, stale ? LEAST_PROBE_NANOS : PROBE_NANOS);
      }
    }
    RedisMap last = map;
    if (last != null) {
      last.nodes().forEach(RedisNode::idleOut);
    }
    links.close();
  }

  private void look() {
    RedisMap known = map;
    boolean asked = stale || known == null || known.nodes().stream().anyMatch(n -> !n.up());
    stale = false;
    RedisMap now = asked ? directory.look(known) : null;
    if (now != null) {
      map = now;
    }
  }

  private void failed(RedisNode node) {
    words.once(
        "down " + node.name(),
        "Redis at "
            + node.name()
            + " is not used until it answers again ("
            + node.trouble()
            + "): its items are read from storage.");
  }

  /** Whether all servers answer. */
  boolean isUp() {
    RedisMap known = map;
    return known != null && known.nodes().stream().allMatch(RedisNode::up);
  }

  // ---- threads of the program

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    awaitStart();
    Filling filling = new Filling(key, length, loader);
    Fetched fetched = local.fetch(key, length, filling);
    Outcome took = filling.took;
    if (took == null) {
      boolean unread = fetched.outcome() == Outcome.FULL && fetched.content() == null;
      return unread ? fetchPast(key, length, loader) : fetched;
    }
    boolean shared = took == Outcome.PEER || took == Outcome.ADMITTED;
    return shared && fetched.content() != null ? new Fetched(took, fetched.content()) : fetched;
  }

  /** The item of a full host: from Redis to the program, or from storage to both. */
  private Fetched fetchPast(ItemKey key, int length, Loader loader) throws IOException {
    byte[] value = buffer(length);
    if (value == null) {
      return new Fetched(Outcome.FULL, null);
    }
    Outcome outcome = take(key, value, loader);
    boolean whole =
        outcome == Outcome.PEER || outcome == Outcome.ADMITTED || outcome == Outcome.FULL;
    return outcome == Outcome.BUSY
        ? new Fetched(Outcome.FULL, null)
        : new Fetched(outcome, whole ? RedisItem.content(value) : null);
  }

  /** What the host's own store reads an item by. */
  private final class Filling implements Loader {
    private final ItemKey key;
    private final int length;
    private final Loader storage;

    /** Null if the host's store had no use for it. */
    private @Nullable Outcome took;

    Filling(ItemKey key, int length, Loader storage) {
      this.key = key;
      this.length = length;
      this.storage = storage;
    }

    @Override
    public boolean load(byte[] target, int offset) throws IOException {
      byte[] value = buffer(length);
      took = value == null ? Outcome.BUSY : take(key, value, storage);
      if (took == Outcome.BUSY || value == null) {
        return storage.load(target, offset);
      }
      if (took == Outcome.CHANGED) {
        return false;
      }
      RedisItem.copy(value, target, offset);
      return true;
    }
  }

  /** Null where the program has left no heap for it: its own call may need less. */
  private static byte @Nullable [] buffer(int length) {
    try {
      return RedisItem.allocate(length);
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  private void awaitStart() {
    while (!attempted
        && !closed
        && System.nanoTime() - opened < START_NANOS
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, FIRST_PAUSE_NANOS);
    }
  }

  /**
   * Gets the item into {@code value}.
   *
   * @return PEER if from Redis; ADMITTED if from storage, and Redis keeps it; FULL if from storage,
   *     and it does not; CHANGED if {@code storage} said so; BUSY if nobody was found who had it,
   *     and storage was not read
   */
  private Outcome take(ItemKey key, byte[] value, Loader storage) throws IOException {
    byte[] name = RedisItem.key(group, key);
    long deadline = System.nanoTime() + ArenaStore.PATIENCE.toNanos();
    long pause = FIRST_PAUSE_NANOS;
    byte[] claim = RedisItem.claim(owner, claims.incrementAndGet());
    boolean first = true;
    while (!closed) {
      RedisMap known = map;
      RedisNode node = known == null ? null : known.of(name);
      if (node == null) {
        return Outcome.BUSY;
      }
      Sight seen = look(node, name, key, value, claim, first);
      if (seen == Sight.NOTHING && !node.full()) {
        seen = claim(node, name, claim);
      }
      switch (seen) {
        case ITEM -> {
          return Outcome.PEER;
        }
        case MINE -> {
          return read(node, name, key, value, claim, storage);
        }
        case FOREIGN -> {
          return node.full() ? Outcome.BUSY : read(node, name, key, value, claim, storage);
        }
        case NOTHING, NOT_ASKED -> {
          return Outcome.BUSY;
        }
        case CLAIMED -> {}
      }
      first = false;
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return Outcome.BUSY;
      }
      LockSupport.parkNanos(this, pause);
      pause = Math.min(LAST_PAUSE_NANOS, pause * 2);
    }
    return Outcome.BUSY;
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

  private Sight look(
      RedisNode node, byte[] name, ItemKey key, byte[] value, byte[] claim, boolean first) {
    long start = System.nanoTime();
    try {
      byte[] found = node.ask(value.length, link -> link.get(name, value));
      if (found == null) {
        if (first) {
          heard(node, start, 0, Answer.ABSENT);
        }
        return Sight.NOTHING;
      }
      if (found == value && RedisItem.isItem(value, key)) {
        heard(node, start, value.length - RedisItem.HEADER_BYTES, Answer.FOUND);
        return Sight.ITEM;
      }
      if (RedisItem.isClaim(found)) {
        if (first) {
          heard(node, start, 0, Answer.ABSENT);
        }
        return Arrays.equals(found, claim) ? Sight.MINE : Sight.CLAIMED;
      }
      return foreign(node, start);
    } catch (RedisLink.ForeignValue e) {
      return foreign(node, start);
    } catch (JedisDataException e) {
      return RedisNode.code(e).equals("WRONGTYPE") ? foreign(node, start) : refused(node, start, e);
    } catch (Unavailable e) {
      return unavailable(node, start, e);
    }
  }

  private Sight claim(RedisNode node, byte[] name, byte[] claim) {
    long start = System.nanoTime();
    try {
      Object answer = node.ask(0, link -> link.ask(Command.SET, name, claim, NX, PX, LEASE_MILLIS));
      return answer == null ? Sight.CLAIMED : Sight.MINE;
    } catch (JedisDataException e) {
      return refused(node, start, e);
    } catch (Unavailable e) {
      return unavailable(node, start, e);
    }
  }

  /** Reads storage, and has Redis keep what came. */
  private Outcome read(
      RedisNode node, byte[] name, ItemKey key, byte[] value, byte[] claim, Loader storage)
      throws IOException {
    boolean kept = false;
    try {
      if (!storage.load(value, RedisItem.HEADER_BYTES)) {
        return Outcome.CHANGED;
      }
      RedisItem.seal(value, key);
      kept = keep(node, name, value);
      return kept ? Outcome.ADMITTED : Outcome.FULL;
    } finally {
      if (!kept) {
        release(node, name, claim);
      }
    }
  }

  private boolean keep(RedisNode node, byte[] name, byte[] value) {
    long start = System.nanoTime();
    try {
      node.ask(value.length, link -> link.ask(Command.SET, name, value, PX, LIFETIME_MILLIS));
      heard(node, start, value.length - RedisItem.HEADER_BYTES, Answer.KEPT);
      return true;
    } catch (JedisDataException e) {
      refused(node, start, e);
    } catch (Unavailable e) {
      unavailable(node, start, e);
    }
    return false;
  }

  private void release(RedisNode node, byte[] name, byte[] claim) {
    try {
      node.ask(0, link -> link.ask(Command.EVAL, RELEASE, ONE, name, claim));
    } catch (JedisDataException | Unavailable e) {
      // Then its lease runs out.
    }
  }

  private Sight foreign(RedisNode node, long start) {
    heard(node, start, 0, Answer.FAILED);
    words.once(
        "foreign",
        "Redis at "
            + node.name()
            + " has something else in an item's place, or a damaged item: it is read from storage"
            + " and written anew.");
    return Sight.FOREIGN;
  }

  /** An answer that is an error: moved, full, or not allowed. */
  private Sight refused(RedisNode node, long start, JedisDataException e) {
    String code = RedisNode.code(e);
    if (e instanceof JedisRedirectionException) {
      stale = true;
      LockSupport.unpark(background);
    } else {
      node.refused();
      words.once(
          "refused " + code,
          code.equals("OOM")
              ? "Redis at "
                  + node.name()
                  + " is full: what it has stays, what it has no room for is read from storage."
              : "Redis at "
                  + node.name()
                  + " answers "
                  + code
                  + ": what it does not give or take is read from storage.");
    }
    heard(node, start, 0, Answer.FAILED);
    return Sight.NOT_ASKED;
  }

  private Sight unavailable(RedisNode node, long start, Unavailable e) {
    if (e.asked()) {
      heard(node, start, 0, e.answer());
    }
    return Sight.NOT_ASKED;
  }

  private void heard(RedisNode node, long start, long bytes, Answer answer) {
    sink.asked(node.name(), start, System.nanoTime(), bytes, answer);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Ends what the engine does; calls that are under way end like those of a dead server. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(background);
  }

  /** Sentences for the user, each kind once. */
  static final class Words {
    private final Consumer<String> words;
    private final Set<String> said = ConcurrentHashMap.newKeySet();

    Words(Consumer<String> words) {
      this.words = words;
    }

    void once(String kind, String sentence) {
      if (said.add(kind)) {
        words.accept(sentence);
      }
    }
  }
}
