package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import io.coordl.peers.Timeouts;
import io.coordl.peers.hosts.PeerClient.Reply;
import io.coordl.store.ArenaStore;
import io.coordl.store.Fetched;
import io.coordl.store.Loader;
import io.coordl.store.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One fetch of one item, as described in {@link HostsEngine}; used by one thread only. */
final class HostsFetch {
  /**
   * Number of candidates, in rank order, that may cache an item under one view. Weights are
   * proportional to store sizes, so hosts fill up at nearly the same time. A longer list would
   * rarely find room, and each item that is cached nowhere would cost one more request per host.
   */
  static final int HOMES = 4;

  /**
   * Maximum number of rounds of a fetch. Another round follows, for example, if a thread that was
   * reading the item did not cache it.
   */
  private static final int MAX_ROUNDS = 4;

  private static final long PAUSE_NANOS = 1_000_000;
  private static final Fetched NOTHING = new Fetched(Outcome.FULL, null);

  private final View view;
  private final ArenaStore local;
  private final Timeouts timeouts;
  private final ItemKey key;
  private final int length;
  private final Loader loader;

  /** Answer of each member, by index: a constant of {@link Wire} or {@link Reply#NOTHING}. */
  private final int[] answers;

  /** Whether all candidates are queried, because the first has no room. */
  private boolean queriesAllHomes;

  /** Remaining nanoseconds that faults may cost. */
  private long allowance;

  /** Whether a member granted a claim but did not cache the item; others may still have room. */
  private boolean refused;

  /** The item, once the loader has read it for another host. */
  private byte @Nullable [] item;

  HostsFetch(
      View view, ArenaStore local, Timeouts timeouts, ItemKey key, int length, Loader loader) {
    this.view = view;
    this.local = local;
    this.timeouts = timeouts;
    this.key = key;
    this.length = length;
    this.loader = loader;
    this.answers = new int[view.peers().size()];
    this.allowance = timeouts.faults().toNanos();
  }

  Fetched run() throws IOException {
    int place = view.locations().of(key);
    if (place == ItemLocations.NOWHERE) {
      return NOTHING;
    }
    int likely = place == ItemLocations.UNKNOWN ? view.ranking().first(key) : place;
    if (likely != view.self()) {
      Fetched found = find(likely);
      if (found != null) {
        return found;
      }
    }
    int[] order = view.ranking().order(key);
    int[] homes = Arrays.copyOf(order, Math.min(HOMES, order.length));
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Fetched fetched = busy() ? admitAt(order, Wire.BUSY) : null;
      fetched = fetched == null ? search(order, homes) : fetched;
      if (fetched == null && !busy()) {
        fetched = admitAt(homes, Wire.ROOM);
      }
      if (fetched != null) {
        return fetched;
      }
      if (queriesAllHomes && !busy()) {
        break;
      }
    }
    return giveUp(homes);
  }

  /** Whether another thread is reading the item for one of the queried members. */
  private boolean busy() {
    return IntStream.of(answers).anyMatch(answer -> answer == Wire.BUSY);
  }

  // ---- finding the item

  private @Nullable Fetched find(int member) {
    Reply reply = request(member, Wire.FIND);
    answers[member] = reply.answer();
    return reply.answer() == Wire.FOUND ? fromPeer(reply) : null;
  }

  /** Searches the local store, then the {@link #membersToQuery}; null if none has the item. */
  private @Nullable Fetched search(int[] order, int[] homes) {
    ByteBuffer content = view.self() < 0 ? null : local.find(key);
    if (content != null) {
      return new Fetched(Outcome.HIT, content);
    }
    for (int member : membersToQuery(order, homes)) {
      Fetched found = find(member);
      if (found != null) {
        if (member != order[0]) {
          view.locations().put(key, member);
        }
        return found;
      }
    }
    return null;
  }

  /**
   * Returns the members still to query: the former owners and, if the owner has no room, the other
   * candidates.
   */
  private int[] membersToQuery(int[] order, int[] homes) {
    int self = view.self();
    if (self == homes[0] || (self >= 0 && !room(homes[0]))) {
      answers[self] = PeerServer.absent(local, key, length);
    }
    queriesAllHomes = !room(homes[0]);
    IntStream current = queriesAllHomes ? IntStream.of(homes) : IntStream.empty();
    return IntStream.concat(current, IntStream.of(view.formerOwners(order)))
        .distinct()
        .filter(member -> member != self && answers[member] == Reply.NOTHING)
        .toArray();
  }

  private boolean room(int member) {
    return answers[member] == Wire.ROOM;
  }

  // ---- admitting the item

  private Fetched giveUp(int[] homes) throws IOException {
    Fetched admitted = view.self() < 0 ? admitHere() : null;
    if (admitted != null) {
      return admitted;
    }
    if (!refused && isFullEverywhere(homes)) {
      view.locations().put(key, ItemLocations.NOWHERE);
    }
    return item == null ? NOTHING : new Fetched(Outcome.FULL, wrap(item));
  }

  /** Tries the members that gave this answer; null if none of them admits the item. */
  private @Nullable Fetched admitAt(int[] order, int answer) throws IOException {
    for (int member : order) {
      if (answers[member] == answer) {
        Fetched admitted = member == view.self() ? admitHere() : admitAt(member);
        if (admitted != null) {
          return admitted;
        }
      }
    }
    return null;
  }

  private @Nullable Fetched admitHere() throws IOException {
    Fetched fetched =
        local.fetch(key, length, this::load, Duration.ofNanos(patienceWithClaimants()));
    if (fetched.outcome() != Outcome.FULL) {
      return fetched;
    }
    if (view.self() >= 0) {
      answers[view.self()] = PeerServer.noRoom(local, length);
    }
    ByteBuffer content = fetched.content();
    if (content != null && item == null) {
      byte[] bytes = ArenaStore.buffer(length);
      if (bytes == null) {
        return fetched;
      }
      content.get(content.position(), bytes);
      item = bytes;
    }
    return null;
  }

  private @Nullable Fetched admitAt(int member) throws IOException {
    long end = System.nanoTime() + patienceWithClaimants();
    while (true) {
      Reply reply = request(member, Wire.CLAIM);
      answers[member] = reply.answer();
      switch (reply.answer()) {
        case Wire.FOUND -> {
          return fromPeer(reply);
        }
        case Wire.GRANTED -> {
          return deliver(member, reply);
        }
        case Wire.BUSY -> {
          if (System.nanoTime() - end >= 0 || Thread.currentThread().isInterrupted()) {
            return new Fetched(Outcome.BUSY, item == null ? null : wrap(item));
          }
          LockSupport.parkNanos(this, PAUSE_NANOS);
        }
        default -> {
          return null;
        }
      }
    }
  }

  /** Reads storage under a claim, unless the item has already been read, and delivers it. */
  private @Nullable Fetched deliver(int member, Reply granted) throws IOException {
    PeerClient peer = peer(member);
    Connection claim = granted.claim();
    if (peer == null || claim == null) {
      return null;
    }
    byte[] bytes = item;
    if (bytes == null) {
      boolean read = false;
      bytes = ArenaStore.buffer(length);
      try {
        if (bytes == null) {
          return NOTHING;
        }
        read = loader.load(bytes, 0);
        if (!read) {
          return new Fetched(Outcome.CHANGED, null);
        }
      } finally {
        if (!read) {
          claim.close(); // Closing the connection releases the claim.
        }
      }
      item = bytes;
    }
    long start = System.nanoTime();
    if (peer.deliver(claim, bytes)) {
      return new Fetched(Outcome.ADMITTED, wrap(bytes));
    }
    charge(start, peer.isOut());
    answers[member] = Reply.NOTHING;
    refused = true;
    return null;
  }

  /** Copies the item if it has already been read; else calls the program's loader. */
  private boolean load(byte[] target, int offset) throws IOException {
    byte[] known = item;
    if (known == null) {
      return loader.load(target, offset);
    }
    System.arraycopy(known, 0, target, offset, length);
    return true;
  }

  /** Whether all reachable candidates answered that they are full. */
  private boolean isFullEverywhere(int[] homes) {
    return IntStream.of(homes).allMatch(member -> answers[member] == Wire.FULL || out(member));
  }

  private boolean out(int member) {
    PeerClient peer = peer(member);
    return peer != null && peer.isOut();
  }

  // ---- requests

  private @Nullable PeerClient peer(int member) {
    return view.peers().get(member);
  }

  private Reply request(int member, int verb) {
    PeerClient peer = peer(member);
    if (peer == null || peer.isOut() || allowance < PeerClient.MIN_WAIT.toNanos()) {
      return Reply.NONE;
    }
    long start = System.nanoTime();
    long patience = Math.min(timeouts.progress().toNanos(), allowance);
    Reply reply = peer.ask(verb, key, length, patience);
    charge(start, reply.answer() == Reply.NOTHING);
    return reply;
  }

  /**
   * Returns how long this fetch waits for another thread that is reading the item. If this fetch
   * had a fault, the other thread may have had one too; the fault and this wait together must not
   * exceed the allowance of one fetch.
   */
  private long patienceWithClaimants() {
    return allowance < timeouts.faults().toNanos()
        ? Math.max(0, allowance)
        : ArenaStore.PATIENCE.toNanos();
  }

  private void charge(long start, boolean fault) {
    if (fault) {
      allowance -= System.nanoTime() - start;
    }
  }

  private static Fetched fromPeer(Reply reply) {
    byte[] bytes = reply.bytes();
    return bytes == null ? NOTHING : new Fetched(Outcome.PEER, wrap(bytes));
  }

  private static ByteBuffer wrap(byte[] bytes) {
    return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
  }
}
