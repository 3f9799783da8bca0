package io.coordl.peers.hosts;

import io.coordl.peers.PeerSink;
import io.coordl.peers.Timeouts;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.Fetched;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/**
 * A host in a separate JVM. Arguments: {@code directory number ports items seed start}. Serves at
 * 127.0.0.NUMBER, on the NUMBERth of the comma-separated {@code ports}. Once a byte arrives on
 * standard input, and until the next byte or the end of the input, fetches random items on two
 * threads from a window that moves with the clock. Prints {@link #FOUND} once it has received an
 * item from another host; at the end, prints its totals and the answers of other hosts by kind.
 * Exits with {@link #WRONG} at the first wrong byte or exception.
 */
public final class HostMain {
  static final int WRONG = 3;

  static final String FOUND = "found";

  /** Answers of other hosts, by kind. */
  private static final Map<PeerSink.Answer, LongAdder> ANSWERS = new ConcurrentSkipListMap<>();

  private static final AtomicBoolean HAS_FOUND = new AtomicBoolean();

  private static final int THREADS = 2;

  /** Milliseconds after which the window moves by one item. */
  private static final long STEP_MILLIS = 20;

  private final HostsEngine items;
  private final int count;
  private final long start;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final LongAdder fetches = new LongAdder();
  private final LongAdder reads = new LongAdder();
  private long worst;

  private HostMain(HostsEngine items, int count, long start) {
    this.items = items;
    this.count = count;
    this.start = start;
  }

  /** Runs the host. */
  public static void main(String[] args) throws Exception {
    int number = Integer.parseInt(args[1]);
    List<Member> members = new ArrayList<>();
    for (String port : args[2].split(",", -1)) {
      int i = members.size() + 1;
      members.add(
          new Member(
              "host" + i, new InetSocketAddress("127.0.0." + i, Integer.parseInt(port)), 64 << 20));
    }
    ArenaStore store =
        ArenaStore.openProcess(Path.of(args[0]), ByteBudget.parse("64m"), HostMain::print);
    KnownMembers membership = new KnownMembers("host" + number);
    membership.members = List.copyOf(members);
    HostsEngine engine =
        new HostsEngine(
            store,
            membership,
            TestSecret.ours(),
            0,
            PeerItems.GROUP,
            (peer, start, end, bytes, answer) -> count(answer),
            line -> {},
            Timeouts.USUAL);
    try (store;
        engine;
        PeerServer server =
            new PeerServer(
                members.get(number - 1).data(),
                store,
                TestSecret.ours(),
                PeerItems.GROUP,
                HostMain::print,
                Timeouts.USUAL)) {
      HostMain host = new HostMain(engine, Integer.parseInt(args[3]), Long.parseLong(args[5]));
      host.run(Long.parseLong(args[4]), server);
      System.out.println(
          "fetches "
              + host.fetches
              + " reads "
              + host.reads
              + " worst "
              + host.worst / 1_000_000
              + " ms "
              + ANSWERS);
    }
  }

  private static void count(PeerSink.Answer answer) {
    ANSWERS.computeIfAbsent(answer, kind -> new LongAdder()).increment();
    if (answer == PeerSink.Answer.FOUND && HAS_FOUND.compareAndSet(false, true)) {
      System.out.println(FOUND);
    }
  }

  private static void print(String line) {
    System.err.println(line);
  }

  private void run(long seed, PeerServer server) throws Exception {
    System.out.println("up " + server.address().getPort());
    System.in.read();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom random = new SplittableRandom(seed + i);
      Thread thread = new Thread(() -> fetchUntilTheEnd(random));
      thread.start();
      threads.add(thread);
    }
    System.in.read();
    ended.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void fetchUntilTheEnd(SplittableRandom random) {
    try {
      while (!ended.get()) {
        long moved = (System.currentTimeMillis() - start) / STEP_MILLIS;
        fetch((int) moved + random.nextInt(count));
      }
    } catch (Throwable e) {
      System.err.println("WRONG " + e);
      Runtime.getRuntime().halt(WRONG);
    }
  }

  private void fetch(int number) throws Exception {
    byte[] expected = PeerItems.content(number);
    CRC32 crc = new CRC32();
    crc.update(expected);
    long start = System.nanoTime();
    Fetched fetched =
        items.fetch(
            PeerItems.key(number),
            expected.length,
            (target, offset) -> {
              reads.increment();
              System.arraycopy(expected, 0, target, offset, expected.length);
              return true;
            });
    long took = System.nanoTime() - start;
    fetches.increment();
    synchronized (this) {
      worst = Math.max(worst, took);
    }
    ByteBuffer content = fetched.content();
    if (content == null) {
      reads.increment();
      return;
    }
    CRC32 found = new CRC32();
    int length = content.remaining();
    found.update(content.duplicate());
    if (length != expected.length || found.getValue() != crc.getValue()) {
      throw new IllegalStateException("item " + number + " has wrong bytes");
    }
  }
}
