package io.coordl.attribution;

import io.coordl.bridge.Origin;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Exact totals of the job since its start. Safe for concurrent use. */
public final class JobTotals {
  final LongAdder fetchTime = new LongAdder();
  final LongAdder decodeTime = new LongAdder();
  final LongAdder transformTime = new LongAdder();
  final LongAdder otherTime = new LongAdder();
  private final LongAdder memoryItems = new LongAdder();
  private final LongAdder peerItems = new LongAdder();
  private final LongAdder storageItems = new LongAdder();
  private final LongAdder memoryBytes = new LongAdder();
  private final LongAdder peerBytes = new LongAdder();
  private final LongAdder storageBytes = new LongAdder();

  private final Totals totals = new Totals();
  private final Totals firstEpoch = new Totals();
  private final Totals laterEpochs = new Totals();
  private long firstEpochWall;
  private long laterEpochsWall;
  private long passes;
  private long epochs;
  private long evaluations;
  private long firstAsk;
  private long lastSeen;
  private long afterLast;
  private boolean started;
  private @Nullable Snapshot lastEpoch;

  /**
   * A reading of all totals; nanoseconds, bytes, counts.
   *
   * @param wall from the first ask for a batch to the last thing a training thread was seen doing
   */
  public record Snapshot(
      long passes,
      long wall,
      Totals totals,
      long fetchTime,
      long decodeTime,
      long transformTime,
      long otherTime,
      long memoryItems,
      long peerItems,
      long storageItems,
      long memoryBytes,
      long peerBytes,
      long storageBytes) {

    /** Items fetched, from wherever. */
    public long items() {
      return memoryItems + peerItems + storageItems;
    }

    /** What happened between an earlier snapshot and this one; wall and totals stay as they are. */
    Snapshot since(Snapshot earlier) {
      return new Snapshot(
          passes,
          wall,
          totals,
          fetchTime - earlier.fetchTime,
          decodeTime - earlier.decodeTime,
          transformTime - earlier.transformTime,
          otherTime - earlier.otherTime,
          memoryItems - earlier.memoryItems,
          peerItems - earlier.peerItems,
          storageItems - earlier.storageItems,
          memoryBytes - earlier.memoryBytes,
          peerBytes - earlier.peerBytes,
          storageBytes - earlier.storageBytes);
    }
  }

  /**
   * The passes so far, and by which of them the job is judged: the first epoch warms up, fills
   * caches and compiles, so those after it count.
   *
   * @param passes all, also those whose kind is not known yet
   * @param epochs passes that updated a model; 0 if no update was seen, and then nobody knows which
   *     pass is what
   * @param evaluations passes that ended without an update
   * @param steady true if the figures are of epochs after the first, false if of the first or,
   *     where no epoch has ended, of the whole job
   */
  public record Epochs(
      long passes, long epochs, long evaluations, boolean steady, long wall, Totals judged) {}

  /** The passes now. */
  public synchronized Epochs epochs() {
    Totals judged = new Totals();
    if (laterEpochs.batches > 0) {
      judged.add(laterEpochs);
      return new Epochs(passes, epochs, evaluations, true, laterEpochsWall, judged);
    }
    boolean one = firstEpoch.batches > 0;
    judged.add(one ? firstEpoch : totals);
    return new Epochs(passes, epochs, evaluations, false, one ? firstEpochWall : wall(), judged);
  }

  private long wall() {
    return started ? lastSeen - firstAsk + afterLast : 0;
  }

  synchronized void epochBegan() {
    epochs++;
  }

  /** A pass of a thread that trains has ended. */
  synchronized void passEnded(boolean epoch, long wall, Totals of) {
    if (!epoch) {
      evaluations++;
    } else if (firstEpoch.batches == 0) {
      firstEpoch.add(of);
      firstEpochWall = wall;
    } else {
      laterEpochs.add(of);
      laterEpochsWall += wall;
    }
  }

  /** All totals now. */
  public synchronized Snapshot snapshot() {
    Totals copy = new Totals();
    copy.add(totals);
    return new Snapshot(
        passes,
        wall(),
        copy,
        fetchTime.sum(),
        decodeTime.sum(),
        transformTime.sum(),
        otherTime.sum(),
        memoryItems.sum(),
        peerItems.sum(),
        storageItems.sum(),
        memoryBytes.sum(),
        peerBytes.sum(),
        storageBytes.sum());
  }

  /** What was done since the last call, or the start: so each item is counted in one epoch. */
  synchronized Snapshot sinceLastEpoch() {
    Snapshot now = snapshot();
    Snapshot delta = lastEpoch == null ? now : now.since(lastEpoch);
    lastEpoch = now;
    return delta;
  }

  /** One item of so many bytes came from there. */
  void fetched(Origin origin, long bytes) {
    switch (origin) {
      case MEMORY -> {
        memoryItems.increment();
        memoryBytes.add(bytes);
      }
      case PEER -> {
        peerItems.increment();
        peerBytes.add(bytes);
      }
      case STORAGE -> {
        storageItems.increment();
        storageBytes.add(bytes);
      }
    }
  }

  synchronized void seen(long from, long to) {
    if (!started) {
      started = true;
      firstAsk = from;
      lastSeen = to;
    }
    firstAsk = Math.min(firstAsk, from);
    if (to > lastSeen) {
      lastSeen = to;
      afterLast = 0;
    }
  }

  /**
   * A model was written, perhaps after the last batch: that lengthens the job by the writing, not
   * by what the program did in between.
   */
  synchronized void wrote(long from, long to) {
    if (started && to > lastSeen) {
      afterLast += to - Math.max(from, lastSeen);
    }
  }

  synchronized void add(Totals part) {
    totals.add(part);
  }

  synchronized long nextEpoch() {
    return ++passes;
  }
}
