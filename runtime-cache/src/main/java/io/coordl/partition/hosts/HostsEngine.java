package io.coordl.partition.hosts;

import io.coordl.cache.ArenaStore;
import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.ItemStore;
import io.coordl.cache.Loader;
import io.coordl.cache.Outcome;
import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.partition.PeerSink;
import io.coordl.partition.RemoteHost;
import io.coordl.partition.Timeouts;
import io.coordl.partition.Watch;
import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
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
 *   <li>If nobody has room, the program reads storage itself. Where they are full, that stays so,
 *       since nothing is ever evicted, and is remembered ({@link ItemLocations}) as long as the
 *       members stay the same; not where one is short of memory or still opens its store.
 * </ol>
 *
 * <h2>Faults</h2>
 *
 * <p>Each answer has a deadline, and the first that is missed gives the peer up until a look from
 * the background finds it back ({@link RemoteHost}); what late calls cost one fetch has a bound of
 * its own ({@link Timeouts#faults}). Whatever happens, the item is read from storage in the end, by
 * this call or by the program's own.
 */
public final class HostsEngine implements ItemStore, Closeable {
  private static final Duration LOOK_FOR_HOSTS = Duration.ofMillis(20);

  /** For a host that was waited for to answer for the first time. */
  private static final Duration GREETING = Duration.ofSeconds(5);

  private final ArenaStore local;
  private final Membership membership;
  private final int awaitedHosts;
  private final Timeouts timeouts;
  private final OnceLog log;
  private final Watch watch = new Watch("coordl-peer-watch");
  private final PeerClient.Common common;
  private final Thread tending;
  private final Object changing = new Object();

  /** Guarded by {@link #changing}. */
  private final Map<Member, PeerClient> peers = new HashMap<>();

  private volatile View view = View.NONE;
  private volatile boolean gathered;
  private volatile long gatheredBy;
  private volatile boolean closed;

  /**
   * An engine of this job; asks nobody yet.
   *
   * @param membership who else is there; closed with the engine
   * @param tls credentials by which peers prove themselves
   * @param awaitedHosts the first fetch waits for so many members, at most a minute
   * @param group of jobs; hosts of another are not asked
   */
  public HostsEngine(
      ArenaStore local,
      Membership membership,
      SSLContext tls,
      int awaitedHosts,
      String group,
      PeerSink sink,
      UserLog userLog,
      Timeouts timeouts) {
    this.local = local;
    this.membership = membership;
    this.awaitedHosts = awaitedHosts;
    this.timeouts = timeouts;
    log = new OnceLog(userLog);
    common = new PeerClient.Common(tls, group, watch, timeouts, sink, log, this::back);
    this.gathered = awaitedHosts <= 1;
    tending = new AgentThread("coordl-peer-tend", this::tend);
    tending.start();
  }

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
    if (!gathered) {
      gather();
    }
    View now = view();
    return closed || now.alone()
        ? local.fetch(key, length, loader)
        : new HostsFetch(now, local, timeouts, key, length, loader).run();
  }

  /** Waits for the awaited hosts; an interrupted thread does not. */
  private void gather() {
    synchronized (changing) {
      if (gatheredBy == 0) { // Once for all calls, whatever interrupts them.
        gatheredBy = (System.nanoTime() + timeouts.hosts().toNanos()) | 1;
      }
    }
    int there = membership.members().size();
    while (!gathered && !closed && there < awaitedHosts && System.nanoTime() - gatheredBy < 0) {
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
      if (there < awaitedHosts) {
        log.once(
            String.format(
                "Of %s hosts %s are there after %s s: items are read without the others, until they"
                    + " come.",
                awaitedHosts, there, timeouts.hosts().toSeconds()));
      } else {
        view().peers().stream().filter(Objects::nonNull).forEach(peer -> peer.greet(GREETING));
      }
      gathered = true;
    }
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
      String self = membership.self();
      List<@Nullable PeerClient> now = new ArrayList<>();
      for (Member member : members) {
        boolean here = member.name().equals(self);
        now.add(here ? null : peers.computeIfAbsent(member, one -> new PeerClient(one, common)));
      }
      peers.values().stream().filter(peer -> !now.contains(peer)).forEach(PeerClient::close);
      peers.values().retainAll(now);
      view = before.then(members, now, self);
      return view;
    }
  }

  private void tend() {
    while (!closed) {
      LockSupport.parkNanos(this, timeouts.probe().toNanos() / 2);
      try {
        for (PeerClient peer : view().peers()) {
          if (peer != null && !closed) {
            peer.tend();
          }
        }
      } catch (RuntimeException | Error e) {
        AgentThread.survive(e);
      }
    }
  }

  private void back(Member member) {
    synchronized (changing) {
      view = view.back(member);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(tending);
    membership.close();
    synchronized (changing) {
      peers.values().forEach(PeerClient::close);
    }
    watch.close();
  }
}
