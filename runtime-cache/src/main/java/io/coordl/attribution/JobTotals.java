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
  private long epochs;
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
      long epochs,
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
          epochs,
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

  /** All totals now. */
  public synchronized Snapshot snapshot() {
    Totals copy = new Totals();
    copy.add(totals);
    return new Snapshot(
        epochs,
        started ? lastSeen - firstAsk + afterLast : 0,
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
    return ++epochs;
  }
}
