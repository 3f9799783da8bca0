package io.coordl.telemetry.attribution;

import io.coordl.bridge.Origin;
import io.coordl.host.CoreTimes;
import io.coordl.telemetry.advice.Epochs;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Exact totals of the job since its start. Safe for concurrent use. */
public final class JobTotals {
  private static final int MAX_CALLERS = 64;

  /**
   * A thread that has loaded this many batches is assumed not to prefetch for a thread that is
   * about to train.
   */
  static final int LOADED = 3;

  /**
   * Replaces {@link #LOADED} if some thread trains, but the agent does not see how it gets its
   * batches. After this many batches, any queue between the two threads is full, and the loading
   * thread waits for room in it.
   */
  static final int QUEUED = 16;

  final LongAdder fetchTime = new LongAdder();
  final LongAdder decodeTime = new LongAdder();
  final LongAdder transformTime = new LongAdder();
  final LongAdder otherTime = new LongAdder();
  final LongAdder prepCoreWait = new LongAdder();
  private final Fetched memory = new Fetched(new LongAdder(), new LongAdder());
  private final Fetched peers = new Fetched(new LongAdder(), new LongAdder());
  private final Fetched storage = new Fetched(new LongAdder(), new LongAdder());

  private record Fetched(LongAdder items, LongAdder bytes) {}

  /**
   * A thread that has waited this long for two batches is examined before it has loaded {@link
   * #LOADED} of them: in a short epoch, each batch loaded before caching starts is not in the cache
   * for the next epoch.
   */
  public static final long LONG_LOAD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final GcPauses pauses;
  private final Figures totals = new JobStatisticsEvent();
  private final Epochs ended = new Epochs();
  private long begun;
  private long updating;
  private long firstRequest;
  private long lastSeen;
  private long afterLast;
  private boolean started;
  private long pausesBefore;
  private long explicitBefore;
  private long planned;
  private long left;
  private long done;
  private long firstDone;
  private long lastDone;
  private boolean closed;

  /** Figures of a thread that loads batches before a training thread is seen to wait for one. */
  private final Figures loaded = new JobStatisticsEvent();

  /** Batches that any thread has loaded before a training thread was seen to wait for one. */
  private long loadedByAny;

  private @Nullable Object loader;
  private long firstLoad;
  private long lastLoad;
  private long passes;
  private boolean trains;

  private final Map<String, Long> gcCallers = new HashMap<>();

  private Figures atLastEnd = new EpochEvent();
  private @Nullable Figures atEnd;
  private CoreTimes cores = CoreTimes.UNKNOWN;

  /** The process's core figures when the job's first wait was counted. */
  private Figures coresBefore = new EpochEvent();

  private volatile @Nullable Consumer<EpochEvent> listener;

  JobTotals(GcPauses pauses) {
    this.pauses = pauses;
  }

  /** Sets the source of CPU times and waits for cores. */
  synchronized void cores(CoreTimes known) {
    cores = known;
  }

  /** Returns the number of epochs that have updated a model so far, including the current one. */
  public synchronized long updating() {
    return updating;
  }

  public Epochs ended() {
    return ended;
  }

  /** Adds a listener, called after each epoch and evaluation on the thread that ends it. */
  public synchronized void onEpochEnd(Consumer<EpochEvent> consumer) {
    Consumer<EpochEvent> others = listener;
    listener = others == null ? consumer : others.andThen(consumer);
  }

  /** Passes an epoch to the listeners; called when all its figures are known. */
  void notifyListeners(EpochEvent epoch) {
    Consumer<EpochEvent> consumer = listener;
    if (consumer != null) {
      consumer.accept(epoch);
    }
  }

  /** Records that a thread trains, perhaps on batches that another thread has loaded for it. */
  synchronized void trains() {
    trains = true;
  }

  synchronized void beganToUpdate() {
    updating++;
  }

  /**
   * Returns all totals so far; the wall time runs from the first request for a batch to the end of
   * the last request or step, plus later model writes.
   */
  public synchronized JobStatisticsEvent snapshot() {
    JobStatisticsEvent now = new JobStatisticsEvent();
    now.add(totals);
    now.add(counted());
    now.wall = started ? lastSeen - firstRequest + afterLast : 0;
    now.epochs = updating > 0 ? updating : begun;
    now.loadedBatches = started ? 0 : loadedByAny;
    now.timeLeft = timeLeft();
    // The last epoch after a resume: it is still running, and its time left is unknown.
    boolean last = left > 0 && updating >= planned && now.timeLeft == 0;
    // The number of epochs is also unknown in a loop that follows the planned one.
    now.plannedEpochs = last || updating > planned ? 0 : planned;
    now.evaluations = updating > 0 ? ended.withoutUpdate() : 0;
    now.explicitGcCaller =
        gcCallers.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse(null);
    return now;
  }

  /** Counts a call of {@code System.gc()}; calls before the first wait for a batch do not count. */
  synchronized void countExplicitGc(String caller) {
    boolean known = gcCallers.size() < MAX_CALLERS || gcCallers.containsKey(caller);
    if (started && !closed && known) {
      gcCallers.merge(caller, 1L, Long::sum);
    }
  }

  /** Begins a training loop of {@code epochs} epochs. */
  synchronized void beginLoop(long epochs, long now) {
    planned = updating + epochs;
    left = epochs;
    done = 0;
    firstDone = now;
    lastDone = now;
  }

  /** Ends the loop; if it had epochs left, the plan is unknown from now on. */
  synchronized void endLoop() {
    planned = left <= 0 ? updating : 0;
    left = 0;
  }

  /**
   * Skips {@code epochs} epochs of the loop, which an earlier job completed. That job also began
   * the next epoch; the rest of it is shorter, so it does not predict later ones.
   */
  synchronized void skipped(long epochs) {
    if (left > 0) {
      planned -= epochs;
      left -= epochs;
      done = -1;
    }
  }

  /**
   * Returns the expected time until the loop ends, 0 if unknown. The first epoch warms up, so it is
   * ignored once another one has ended.
   */
  private long timeLeft() {
    if (left <= 0 || done <= 0) {
      return 0;
    }
    long each = (lastDone - firstDone) / Math.max(1, done - 1);
    return Math.max(1, each * left - (lastSeen - lastDone));
  }

  private void updatedUntil(long now) {
    done++;
    left--;
    firstDone = done <= 2 ? lastDone : firstDone;
    lastDone = now;
  }

  /**
   * Ends an epoch of a training thread. The epoch gets the work of all threads since the previous
   * end, so no item is counted in two epochs.
   */
  synchronized void epochEnded(EpochEvent epoch, long end) {
    if (left > 0 && epoch.updates > 0) {
      updatedUntil(end);
    }
    Figures now = counted();
    epoch.add(now);
    epoch.subtract(atLastEnd);
    atLastEnd = now;
    ended.add(epoch);
  }

  /** Fixes the figures counted on all threads, because the job ends. */
  synchronized void stopCounting() {
    atEnd = counted();
  }

  /** Makes the totals final, once all work of the training threads is counted. */
  synchronized void close() {
    closed = true;
  }

  /** Returns the figures counted on all threads. */
  private Figures counted() {
    Figures end = atEnd;
    if (end != null) {
      return end;
    }
    Figures now = new EpochEvent();
    if (started) {
      now.gcPauses = pauses.getAsLong() - pausesBefore;
      now.explicitGcPauses = Math.min(now.gcPauses, pauses.explicit() - explicitBefore);
      cores.ofProcess(now);
      now.subtract(coresBefore);
    }
    now.fetchTime = fetchTime.sum();
    now.decodeTime = decodeTime.sum();
    now.transformTime = transformTime.sum();
    now.otherTime = otherTime.sum();
    now.prepCoreWait = prepCoreWait.sum();
    now.memoryItems = memory.items.sum();
    now.peerItems = peers.items.sum();
    now.storageItems = storage.items.sum();
    now.items = now.memoryItems + now.peerItems + now.storageItems;
    now.memoryBytes = memory.bytes.sum();
    now.peerBytes = peers.bytes.sum();
    now.storageBytes = storage.bytes.sum();
    return now;
  }

  /** Counts one item of {@code bytes} bytes from {@code origin}. */
  void fetched(Origin origin, long bytes) {
    Fetched from =
        switch (origin) {
          case MEMORY -> memory;
          case PEER -> peers;
          case STORAGE -> storage;
        };
    from.items.increment();
    from.bytes.add(bytes);
  }

  /**
   * Records that the job was active from {@code from} to {@code to}; {@code pausesBefore} is the
   * total of earlier GC pauses.
   */
  synchronized void recordActivity(long from, long to, long pausesBefore) {
    if (closed) {
      return;
    }
    if (!started) {
      started = true;
      this.pausesBefore = pausesBefore;
      explicitBefore = pauses.explicit();
      coresBefore = new EpochEvent();
      cores.ofProcess(coresBefore);
      firstRequest = from;
      lastSeen = to;
    }
    firstRequest = Math.min(firstRequest, from);
    if (to > lastSeen) {
      lastSeen = to;
      afterLast = 0;
    }
  }

  /**
   * Records a model write, perhaps after the last batch. The write extends the job by its own time,
   * not by the gap before it.
   */
  synchronized void recordWrite(long from, long to) {
    if (started && to > lastSeen && !closed) {
      afterLast += to - Math.max(from, lastSeen);
    }
  }

  /**
   * Counts a batch taken by a thread that has not trained; perhaps the job only loads data. Waits
   * count for the first such thread only.
   *
   * @param thread identifies the thread
   * @param isFirst whether the batch is the first of a pass
   */
  synchronized void loaded(
      Object thread, long from, long to, boolean isFirst, long samples, DataStallEvent wait) {
    if (started || closed) {
      return;
    }
    loadedByAny++;
    if (loader != null && loader != thread) {
      return;
    }
    if (loader == null) {
      loader = thread;
      firstLoad = from;
    }
    lastLoad = to;
    passes += isFirst ? 1 : 0;
    loaded.addBatch(samples);
    loaded.addStall(wait);
  }

  /**
   * Returns the figures of a thread that takes batch after batch while no training thread is seen
   * to wait for one; its passes count as epochs. Empty once such a wait is seen, and during the
   * first batches, because this thread may be prefetching for one that is about to train.
   */
  public synchronized JobStatisticsEvent loading() {
    JobStatisticsEvent now = new JobStatisticsEvent();
    boolean isLong = !trains && loaded.batches >= 2 && loaded.dataStall() >= LONG_LOAD_NANOS;
    if (!started && (isLong || loaded.batches >= (trains ? QUEUED : LOADED) || passes > 1)) {
      now.add(loaded);
      now.wall = lastLoad - firstLoad;
      now.epochs = passes;
    }
    return now;
  }

  /** Returns the time since the job's last activity; 0 before its first batch. */
  public synchronized long idle(long now) {
    return started ? Math.max(0, now - lastSeen) : 0;
  }

  /** Counts work of a training thread. */
  synchronized void count(Consumer<Figures> counted) {
    if (!closed) {
      counted.accept(totals);
    }
  }

  synchronized long nextEpoch() {
    return ++begun;
  }
}
