package io.coordl.attribution;

import io.coordl.advice.Figures;
import io.coordl.advice.Passes;
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
  private final Passes ended = new Passes();
  private long passes;
  private long epochs;
  private long firstAsk;
  private long lastSeen;
  private long afterLast;
  private boolean started;
  private boolean closed;
  private Figures lastPass = Figures.NONE;
  private @Nullable Figures atEnd;

  /** All passes so far, also those that have not ended. */
  public synchronized long passes() {
    return passes;
  }

  /** Passes that updated a model so far, also one that has not ended. */
  public synchronized long epochs() {
    return epochs;
  }

  /** The passes that have ended. */
  public Passes ended() {
    return ended;
  }

  synchronized void epochBegan() {
    epochs++;
  }

  /** All totals now; the wall is from the first ask for a batch to the last thing seen. */
  public synchronized Figures snapshot() {
    return totals.with(started ? lastSeen - firstAsk + afterLast : 0, counted());
  }

  /**
   * A pass of a thread that trains has ended: what all threads did since the last one ended is of
   * it, so each item is counted in one pass.
   */
  synchronized Figures passEnded(
      boolean updates, String source, boolean complete, long wall, Totals of) {
    Figures now = counted();
    Figures figures = of.with(wall, now.minus(lastPass));
    lastPass = now;
    ended.add(updates, source, complete, figures);
    return figures;
  }

  /** The job ends: what is counted from now on is in no total. */
  synchronized void stopCounting() {
    atEnd = counted();
  }

  /** What the training threads did is added up: nothing changes any more. */
  synchronized void close() {
    closed = true;
  }

  private Figures counted() {
    Figures end = atEnd;
    if (end != null) {
      return end;
    }
    long memory = memoryItems.sum();
    long peers = peerItems.sum();
    long storage = storageItems.sum();
    return new Figures(
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        fetchTime.sum(),
        decodeTime.sum(),
        transformTime.sum(),
        otherTime.sum(),
        memory + peers + storage,
        memory,
        peers,
        storage,
        memoryBytes.sum(),
        peerBytes.sum(),
        storageBytes.sum());
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
    if (closed) {
      return;
    }
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
    if (started && to > lastSeen && !closed) {
      afterLast += to - Math.max(from, lastSeen);
    }
  }

  synchronized void add(Totals part) {
    if (!closed) {
      totals.add(part);
    }
  }

  synchronized long nextEpoch() {
    return ++passes;
  }
}
