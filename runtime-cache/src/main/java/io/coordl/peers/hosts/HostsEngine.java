package io.coordl.peers.hosts;

import io.coordl.host.AgentThread;
import io.coordl.items.ItemKey;
import io.coordl.peers.PeerSink;
import io.coordl.peers.RemoteHost;
import io.coordl.peers.Timeouts;
import io.coordl.peers.Watch;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The partitioned cache of a membership's hosts. Each item is normally cached by only one of them:
 * the first in the item's rank order ({@link Ranking}) that is reachable and has room, among the
 * first {@link HostsFetch#HOMES}. Nothing is evicted, so a cached item does not move when hosts
 * join or leave; that is why a fetch also queries former owners.
 *
 * <h2>A fetch</h2>
 *
 * <ol>
 *   <li>Query the first in rank, or the member where the item was found before. Usually that is
 *       all.
 *   <li>If that member has room but not the item, the item was not cached under the current
 *       membership: query the members that ranked first in the last few views ({@link
 *       View#formerOwners}). If the member has no room, also query the other candidates.
 *   <li>If none of them has the item, the first in rank with room caches it. The caller takes a
 *       claim in that host's arena, which only one caller across all hosts can hold, reads storage,
 *       and sends the bytes to that host. So each byte is read from storage once, if one of these
 *       hosts has room for it and membership is consistent; no host opens a file for another.
 *   <li>If no host has room, the program reads storage itself. A full host stays full, because
 *       nothing is evicted, so the result is remembered ({@link ItemLocations}) until the
 *       membership changes. It is not remembered if a host is only short of memory or still opening
 *       its store.
 * </ol>
 *
 * <h2>Faults</h2>
 *
 * <p>Each answer has a deadline. A peer that misses it receives no more requests until a background
 * probe succeeds ({@link RemoteHost}). The total cost of late calls per fetch is bounded ({@link
 * Timeouts#faults}). If all else fails, this call or the program's own call reads the item from
 * storage.
 */
public final class HostsEngine implements ItemStore, Closeable {
  private static final Duration CHECK_FOR_HOSTS = Duration.ofMillis(20);

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
   * Creates this job's engine; contacts no peer yet.
   *
   * @param membership the current members; closed with the engine
   * @param tls credentials with which peers authenticate each other
   * @param awaitedHosts number of members for which the first fetches wait, for at most {@link
   *     Timeouts#hosts}
   * @param group name of the group of jobs; hosts of other groups are ignored
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

  /** Waits for the awaited hosts, unless the thread is interrupted. */
  private void gather() {
    synchronized (changing) {
      if (gatheredBy == 0) { // One deadline for all calls, even if some are interrupted.
        gatheredBy = (System.nanoTime() + timeouts.hosts().toNanos()) | 1;
      }
    }
    int present = membership.members().size();
    while (!gathered && !closed && present < awaitedHosts && System.nanoTime() - gatheredBy < 0) {
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
      LockSupport.parkNanos(this, CHECK_FOR_HOSTS.toNanos());
      present = membership.members().size();
    }
    synchronized (changing) {
      if (gathered || closed) {
        return;
      }
      if (present < awaitedHosts) {
        log.once(
            String.format(
                "%s of %s hosts joined within %s s: this job starts without the others and uses"
                    + " them once they join.",
                present, awaitedHosts, timeouts.hosts().toSeconds()));
      } else {
        view().peers().stream()
            .filter(Objects::nonNull)
            .forEach(peer -> peer.greet(Timeouts.GREETING));
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
