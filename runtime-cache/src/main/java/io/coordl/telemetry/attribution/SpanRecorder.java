package io.coordl.telemetry.attribution;

import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.host.CoreTimes;
import io.coordl.telemetry.event.FetchEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LayerEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Makes batches, data stalls, steps and epochs out of the spans of all threads.
 *
 * <p>Each thread has its own stack ({@link ThreadSpans}), so spans cost no synchronisation; threads
 * meet in {@link RecentBatches} (once per batch) and {@link JobTotals}.
 *
 * <p>A wait is a stall only on a training thread: one that runs a training loop or steps. Waits of
 * a thread that has not trained yet are held back until it does, so that a program's own prefetch
 * thread, which also calls {@code next()}, never counts as stalled.
 */
public final class SpanRecorder implements SpanSink {
  private static final int MAX_TRAINING = 64;

  private final ThreadLocal<ThreadSpans> threads =
      ThreadLocal.withInitial(() -> new ThreadSpans(this));
  final AtomicLong batchIds = new AtomicLong();
  final RecentBatches recent = new RecentBatches();
  final JobTotals totals;
  final Durations durations;
  private final GcPauses gcNanos;
  private final LongSupplier clock;
  final EventLog events;

  /**
   * The latest threads to begin training, including ended ones, which may have left an epoch open.
   */
  private final List<ThreadSpans> training = new CopyOnWriteArrayList<>();

  final Preparers preparers = new Preparers();
  final LongAdder updates = new LongAdder();

  /** Decoded images, and those of them that the program decoded with the JDK's own calls. */
  final LongAdder decodes = new LongAdder();

  final LongAdder decodesByProgram = new LongAdder();
  final LongAdder epochEnds = new LongAdder();
  final ModelLayers layers;
  private volatile ToLongFunction<Object> counts = counted -> 0;
  private volatile UnaryOperator<Object> datasets = batches -> batches;
  volatile @Nullable WaitListener listener;
  volatile Consumer<Object> epochs = batches -> {};
  volatile CoreTimes cores = CoreTimes.UNKNOWN;
  private volatile boolean ended;

  /** The longest wait of any training thread for a batch. */
  final LongAccumulator longestWait = new LongAccumulator(Math::max, 0);

  /** The thread that opened a file of the data set last. */
  private volatile @Nullable ThreadSpans reader;

  private volatile @Nullable OpenWait openAtEnd;

  public SpanRecorder(EventLog events, Durations durations, GcPauses gcNanos) {
    this(events, durations, gcNanos, System::nanoTime);
  }

  /** For tests, which control the clock. */
  SpanRecorder(EventLog events, Durations durations, GcPauses gcNanos, LongSupplier clock) {
    this.events = events;
    this.durations = durations;
    this.gcNanos = gcNanos;
    this.totals = new JobTotals(gcNanos);
    this.layers = new ModelLayers(events);
    this.clock = clock;
  }

  /**
   * Sets the function that returns the number of samples in a batch, or of epochs that a trainer
   * will make; it returns 0 if unknown, and never throws.
   */
  public void counts(ToLongFunction<Object> of) {
    counts = of;
  }

  /**
   * Sets the function that returns the data set behind an object that yields its batches; it
   * returns that object if there is none, and never throws.
   */
  public void datasets(UnaryOperator<Object> of) {
    datasets = of;
  }

  /**
   * Sets the function that returns the layers of the model that a trainer changes; it returns none
   * if they are unknown, and never throws.
   */
  public void layers(Function<Object, List<LayerEvent>> of) {
    layers.knownBy(of);
  }

  /** Sets the source of CPU times and waits for cores; called before the job begins. */
  public void cores(CoreTimes known) {
    cores = known;
    totals.cores(known);
  }

  /**
   * Sets the listener that gets the source of the batches after each complete epoch, on the thread
   * of that epoch.
   */
  public void onEpoch(Consumer<Object> added) {
    epochs = added;
  }

  /** Sets the listener for the waits from now on. */
  public void onWait(WaitListener added) {
    listener = added;
  }

  long samples(Object batch) {
    return counts.applyAsLong(batch);
  }

  /** Returns the class of the data set whose batches this object yields. */
  String dataset(Object source) {
    return datasets.apply(source).getClass().getName();
  }

  /** Returns how many epochs a loop will make, given their number or the trainer; 0 if unknown. */
  long epochs(Object loop) {
    return loop instanceof Integer given ? given : counts.applyAsLong(loop);
  }

  public EventLog events() {
    return events;
  }

  /** Returns the number of the batch that this thread prepares, 0 if none. */
  public long batchOfThisThread() {
    return threads.get().batchId();
  }

  /**
   * Whether this thread trains and a {@code next} called now would be its wait for a batch: neither
   * nested in another wait nor preparation for another thread.
   */
  public boolean isBatchGet() {
    return threads.get().isBatchGet();
  }

  public Preparers preparers() {
    return preparers;
  }

  /** Returns the number of model updates so far, by any thread. */
  public long updates() {
    return updates.sum();
  }

  /** Returns how many epochs, evaluations and passes of threads that do not train have ended. */
  public long epochEnds() {
    return epochEnds.sum();
  }

  /** Adds a training thread, whose open epochs end with the job. */
  synchronized void trains(ThreadSpans thread) {
    if (training.size() == MAX_TRAINING) {
      training.remove(0);
    }
    training.add(thread);
    totals.trains();
  }

  /**
   * Ends the job: writes epochs still open as they stand, and makes the totals final. Called once;
   * spans of threads that continue are ignored.
   */
  public void finish() {
    openAtEnd = openWait();
    ended = true;
    totals.stopCounting();
    for (ThreadSpans thread : training) {
      try {
        thread.finish(now());
      } catch (RuntimeException e) {
        // The thread is still running and changed its spans during this call: keep what it has
        // written.
      }
    }
    totals.close();
  }

  /** Returns the longest unfinished wait for a batch; null if there is none. */
  public @Nullable OpenWait openWait() {
    if (ended) {
      return openAtEnd;
    }
    OpenWait longest = null;
    ThreadSpans last = reader;
    long now = now();
    for (ThreadSpans thread : training) {
      OpenWait wait = thread.openWait(now, last);
      if (wait != null && (longest == null || wait.nanos() > longest.nanos())) {
        longest = wait;
      }
    }
    return longest;
  }

  /**
   * Returns the totals so far, with the longest unfinished wait.
   *
   * @param withOpenWait whether the data stall and the wall time include that wait; if not, they
   *     never decrease
   */
  public JobStatisticsEvent soFar(boolean withOpenWait) {
    JobStatisticsEvent job = totals.snapshot();
    OpenWait wait = openWait();
    job.openWait = wait == null ? 0 : wait.nanos();
    job.longestWait = longestWait.get();
    if (withOpenWait && job.batches > 0 && !ended) {
      job.addOpenWait(Math.min(job.openWait, totals.idle(now())));
    }
    job.timeLeft = job.waitsTooLong() ? 0 : job.timeLeft;
    return job;
  }

  public JobTotals totals() {
    return totals;
  }

  long now() {
    return clock.getAsLong();
  }

  long gcNanos() {
    return gcNanos.getAsLong();
  }

  /** Whether the program decodes most images itself, from streams, with the JDK's own calls. */
  public boolean decodesItself() {
    return 2 * decodesByProgram.sum() > decodes.sum();
  }

  @Override
  public long enter(SpanKind kind, @Nullable Object subject) {
    return ended ? 0 : threads.get().enter(kind, subject);
  }

  @Override
  public void exit(long token, @Nullable Object result) {
    if (!ended) {
      threads.get().exit(token, result);
    }
  }

  @Override
  public void fetchTime(long startNanos, long endNanos) {
    if (!ended) {
      threads.get().fetch(endNanos - startNanos);
    }
  }

  @Override
  public void itemOpened(String path) {
    if (!ended) {
      ThreadSpans thread = threads.get();
      thread.opened(path);
      reader = thread;
    }
  }

  @Override
  public void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {
    if (ended) {
      return;
    }
    ThreadSpans thread = threads.get();
    thread.itemFetched();
    durations.record(Durations.Kind.FETCH, nanos);
    totals.fetched(origin, bytes);
    if (nanos >= FetchEvent.SLOW_NANOS) {
      FetchEvent event = new FetchEvent();
      event.batch = thread.batchId();
      event.path = path;
      event.bytes = bytes;
      event.fetchTime = nanos;
      event.memory = origin == Origin.MEMORY;
      event.origin = origin.label();
      events.write(event, startNanos, startNanos + nanos);
    }
  }

  @Override
  public boolean loadingSample() {
    return threads.get().loadingSample();
  }
}
