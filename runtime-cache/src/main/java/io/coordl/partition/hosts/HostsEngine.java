package io.coordl.partition.hosts;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.Loader;
import io.coordl.partition.Engine;
import io.coordl.partition.PeerSink;
import io.coordl.thread.AgentThread;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The memory of all hosts of a membership, each item in that of one: the first in the item's rank
 * order ({@link Ranking}) that is within reach and has room, among the first {@link
 * HostsFetch#HOMES}. Since nothing is evicted, an item stays where it is once it is kept, whoever
 * comes or goes; hence the look at former owners below.
 *
 * <h2>A fetch</h2>
 *
 * <ol>
 *   <li>Ask the first in rank, or the member with whom the item was found before. Where nobody
 *       failed or came late, that is all.
 *   <li>If it does not have the item but has room, the item was not kept while the members were
 *       these: look at who was the first in the last few views before ({@link View#formerOwners}).
 *       If it has no room, look also at the next in rank that the item may be with; never at all.
 *   <li>If none of them has it, the first in rank that has room is to keep it: under a claim in its
 *       arena, which one caller of all hosts has at a time, this one reads storage and hands the
 *       bytes over. So each byte leaves storage once, as long as one of these hosts has room for it
 *       and knows of the changes among them, and no host opens a file for another.
 *   <li>If nobody has room, the program reads storage itself. Nothing is ever evicted, so that
 *       stays so, and is remembered ({@link Places}) as long as the members stay the same.
 * </ol>
 *
 * <h2>Faults</h2>
 *
 * <p>Each answer has a deadline, and the first that is missed gives the peer up until a look from
 * the background finds it back ({@link Peer}); what late calls cost one fetch has a bound of its
 * own ({@link Timing#faults}). Whatever happens, the item is read from storage in the end, by this
 * call or by the program's own.
 */
public final class HostsEngine implements Engine {
  private static final Duration LOOK_FOR_HOSTS = Duration.ofMillis(20);

  /** For a host that was waited for to answer for the first time. */
  private static final Duration GREETING = Duration.ofSeconds(5);

  private final ArenaStore local;
  private final Membership membership;
  private final @Nullable PeerTls tls;
  private final int awaitedHosts;
  private final String group;
  private final PeerSink sink;
  private final Consumer<String> words;
  private final Timing timing;
  private final Watch watch = new Watch();
  private final Peer.Calls calls = new Calls();
  private final Thread tending;

  private final LongAdder foundItems = new LongAdder();
  private final LongAdder foundBytes = new LongAdder();
  private final LongAdder keptItems = new LongAdder();
  private final LongAdder keptBytes = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder opened = new LongAdder();

  private final Object changing = new Object();

  /** Guarded by {@link #changing}. */
  private final Map<Member, Peer> peers = new HashMap<>();

  private volatile View view = View.NONE;
  private volatile boolean gathered;
  private volatile long gatheredBy;
  private volatile boolean closed;

  /**
   * An engine of this job; asks nobody yet.
   *
   * @param local the store of this host
   * @param membership who else is there; closed with the engine
   * @param tls null to speak in the clear
   * @param awaitedHosts the first fetch waits for so many members, at most a minute
   * @param group of jobs; hosts of another are not asked
   * @param sink hears of every question
   * @param words takes sentences for the user
   */
  public HostsEngine(
      ArenaStore local,
      Membership membership,
      @Nullable PeerTls tls,
      int awaitedHosts,
      String group,
      PeerSink sink,
      Consumer<String> words) {
    this(local, membership, tls, awaitedHosts, group, sink, words, Timing.usual());
  }

  /** As above, with other times. */
  HostsEngine(
      ArenaStore local,
      Membership membership,
      @Nullable PeerTls tls,
      int awaitedHosts,
      String group,
      PeerSink sink,
      Consumer<String> words,
      Timing timing) {
    this.local = local;
    this.membership = membership;
    this.tls = tls;
    this.awaitedHosts = awaitedHosts;
    this.group = group;
    this.sink = sink;
    this.words = words;
    this.timing = timing;
    this.gathered = awaitedHosts <= 1;
    tending = new AgentThread("coordl-peer-tend", this::tend);
    tending.start();
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    if (!gathered) {
      gather();
    }
    View now = view();
    return closed || now.alone()
        ? local.fetch(key, length, loader)
        : new HostsFetch(now, local, timing, key, length, loader).run();
  }

  /** What this job had of the others so far. */
  public PeerStatistics statistics() {
    return new PeerStatistics(
        foundItems.sum(),
        foundBytes.sum(),
        keptItems.sum(),
        keptBytes.sum(),
        late.sum(),
        failed.sum(),
        opened.sum());
  }

  /** Waits for the awaited hosts; an interrupted thread does not. */
  private void gather() {
    synchronized (changing) {
      if (gatheredBy == 0) {
        gatheredBy = (System.nanoTime() + timing.hosts().toNanos()) | 1;
      }
    }
    int there = membership.members().size();
    while (!gathered && !closed && there < awaitedHosts) {
      if (System.nanoTime() - gatheredBy >= 0) {
        sayMissing(there);
        return;
      }
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
      LockSupport.parkNanos(this, LOOK_FOR_HOSTS.toNanos());
      there = membership.members().size();
    }
    synchronized (changing) {
      if (gathered || closed) {
        return;
      }
      for (Peer peer : view().peers()) {
        if (peer != null) {
          peer.greet(GREETING.toNanos());
        }
      }
      gathered = true;
    }
  }

  private void sayMissing(int there) {
    synchronized (changing) {
      if (gathered) {
        return;
      }
      gathered = true;
    }
    words.accept(
        "Of "
            + awaitedHosts
            + " hosts "
            + there
            + " are there after "
            + timing.hosts().toSeconds()
            + " s: items are read without the others, until they come.");
  }

  // ---- members

  private View view() {
    View known = view;
    List<Member> members = membership.members();
    return known.isOf(members) ? known : change(members);
  }

  private View change(List<Member> members) {
    synchronized (changing) {
      View before = view;
      if (closed || before.isOf(members)) {
        return before;
      }
      Map<Member, Peer> left = new HashMap<>(peers);
      peers.clear();
      for (Member member : members) {
        if (!member.name().equals(membership.self())) {
          Peer peer = left.remove(member);
          peers.put(member, peer == null ? new Peer(member, calls) : peer);
        }
      }
      left.values().forEach(Peer::close);
      View after = before.then(members, peers, membership.self());
      view = after;
      return after;
    }
  }

  private void tend() {
    while (!closed) {
      LockSupport.parkNanos(this, timing.probe().toNanos() / 2);
      try {
        for (Peer peer : view().peers()) {
          if (peer != null && !closed) {
            peer.tend(System.nanoTime());
          }
        }
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
    }
  }

  /** What the peers have in common. */
  private final class Calls implements Peer.Calls {
    @Override
    public @Nullable PeerTls tls() {
      return tls;
    }

    @Override
    public String group() {
      return group;
    }

    @Override
    public Watch watch() {
      return watch;
    }

    @Override
    public Timing timing() {
      return timing;
    }

    @Override
    public void asked(Member member, long start, long bytes, PeerSink.Answer answer) {
      switch (answer) {
        case FOUND -> {
          foundItems.increment();
          foundBytes.add(bytes);
        }
        case KEPT -> {
          keptItems.increment();
          keptBytes.add(bytes);
        }
        case LATE -> late.increment();
        case FAILED -> failed.increment();
        case ABSENT -> {}
      }
      sink.asked(member.name(), start, System.nanoTime(), bytes, answer);
    }

    @Override
    public void givenUp() {
      opened.increment();
    }

    @Override
    public void back(Member member) {
      synchronized (changing) {
        view = view.back(member);
      }
    }

    @Override
    public void say(String sentence) {
      words.accept(sentence);
    }
  }

  @Override
  public void close() {
    synchronized (changing) {
      if (closed) {
        return;
      }
      closed = true;
    }
    LockSupport.unpark(tending);
    membership.close();
    synchronized (changing) {
      peers.values().forEach(Peer::close);
    }
    watch.close();
  }
}
