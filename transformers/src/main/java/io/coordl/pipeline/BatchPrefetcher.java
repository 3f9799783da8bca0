package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.EarlyFileError;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.Producers;
import io.coordl.coordination.NotPreparedException;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.telemetry.log.OnceLog;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the next batch of an epoch on a thread of the agent while the program computes. Without
 * it, the batch would be prepared on the program's own thread.
 *
 * <p><b>The same batch.</b> A batch depends on its samples, which are known, and on the pipeline's
 * parts, which {@link PurityAnalyzer} examines in each epoch: they may draw from the library's
 * generator and from nothing else, and read nothing that changes. The draws come from a fork of
 * that generator. When the program requests the batch, the generator advances to the state of the
 * fork. If both the program and the batch have drawn since the fork, the batch is discarded and the
 * program's own call prepares it. So a batch that is never requested has no side effects. Settings
 * that the program may change at any time, and the states of the opened files, are recorded while
 * the batch is prepared, and compared when it is requested. If a pipeline throws on the agent's
 * thread, the program's own call runs, and throws if it fails too.
 *
 * <p><b>One at a time.</b> One thread prepares batches, and a call of the program waits until this
 * thread is idle.
 *
 * <p>An epoch has at most one prefetched batch at a time. The batch is dropped when the program
 * begins another epoch of the data set, or no longer refers to the epoch's order of samples.
 */
public final class BatchPrefetcher {
  /** Consecutive discarded or failed batches after which prefetching stops for the epoch. */
  private static final int MAX_USELESS = 3;

  private static final String UNKNOWN_FILES =
      "the program reads or queries files whose changes the agent cannot detect, such as missing"
          + " files or files in an archive";

  private final Prefetcher prefetcher;
  private final OnceLog log;
  private final PurityAnalyzer code;
  private final ForkableRandom random;
  private final String generator;
  private final Consumer<Object> drop;
  private final Set<Slot> slots = ConcurrentHashMap.newKeySet();
  private final ReferenceQueue<Object> dropped = new ReferenceQueue<>();

  Duration patience = EarlyBatch.PATIENCE; // Tests change it.

  /**
   * The batch started last; one thread prepares batches in the order in which they were started.
   */
  private @Nullable EarlyBatch last;

  /** The thread that is preparing a batch. */
  private volatile @Nullable Thread preparing;

  /** Whether the preparing thread was last found stuck; nothing is then prefetched. */
  private volatile boolean hangs;

  /**
   * Prepares batches of one library.
   *
   * @param code determines what may be prefetched
   * @param random the one generator that pipelines may draw from
   * @param generator its name, for the user
   * @param drop frees a batch that the program does not get, whether or not it was handed over
   */
  public BatchPrefetcher(
      Services services,
      PurityAnalyzer code,
      ForkableRandom random,
      String generator,
      Consumer<Object> drop) {
    this.prefetcher = Objects.requireNonNull(services.prefetcher());
    this.log = new OnceLog(services.log());
    this.code = code;
    this.random = random;
    this.generator = generator;
    this.drop = drop;
  }

  /** Prepares batches that draw from no generator and need not be freed. */
  BatchPrefetcher(Services services, PurityAnalyzer code) {
    this(services, code, new ForkableRandom(0), "a generator", batch -> {});
  }

  /** Returns the message that batches are not prefetched, and why. */
  public static String leavesMessage(String reason) {
    return "prefetch leaves batches to the program: " + reason + ".";
  }

  /**
   * Like the other {@code leavesMessage}, but names the class that returns the batches, which the
   * reason calls <i>it</i>.
   */
  public static String leavesMessage(String type, String reason) {
    return "prefetch leaves batches of " + type + " to the program: " + reason + ".";
  }

  /**
   * Called before a data set is prepared. That may change the contents of batches, so a prefetched
   * batch may be stale, even one of another data set that contains this one.
   */
  public void prepare() {
    if (awaitIdle()) {
      for (Slot slot : slots) {
        slot.examined = null;
        discard(slot.prepared.getAndSet(null));
      }
    }
  }

  /**
   * Called when an epoch of a data set begins or ends; drops the data set's prefetched batches,
   * which may never be requested.
   */
  public void begin(Object dataset) {
    reap();
    for (Slot slot : slots) {
      if (slot.dataset.refersTo(dataset)) {
        discard(slot.prepared.getAndSet(null));
      }
    }
  }

  /** Frees prefetched batches whose order has been garbage-collected. */
  private void reap() {
    Reference<?> gone;
    while ((gone = dropped.poll()) != null) {
      if (gone instanceof Slot slot) {
        slots.remove(slot);
        discard(slot.prepared.getAndSet(null));
      }
    }
  }

  /**
   * Called when the program requests a batch, on a thread of the program or of the agent.
   *
   * @param samples as passed to {@link LibraryEpoch#prefetch}; {@code position} likewise
   * @return null if neither this batch nor the next is prefetched, so the program's own call runs
   *     unchanged
   */
  public @Nullable Asked enter(LibraryEpoch pipeline, Object samples, int position) {
    if (hangs || !awaitIdle()) {
      return null;
    }
    reap();
    PeekingIterator<?> order = pipeline.upcoming();
    if (order == null || (!prefetcher.isWorthwhile() && !(order.companion() instanceof Slot))) {
      return null;
    }
    Slot slot = slot(pipeline, order);
    if (slot.stopped || (slot.examined == null && !examine(slot, pipeline, pipeline.settings()))) {
      return null;
    }
    PrefetchedBatch prepared = slot.prepared.getAndSet(null);
    Object batch = prepared == null ? null : take(prepared, pipeline, samples, position);
    if (batch != null) {
      slot.useless = 0;
      prefetcher.used();
    } else if (prepared != null) {
      discard(prepared);
      if (++slot.useless == MAX_USELESS) {
        slot.stopped = true;
        log.once(leavesMessage(prepared.why));
        return null;
      }
    }
    return new Asked(pipeline, order, slot, position, batch);
  }

  boolean isWorthwhile() {
    return prefetcher.isWorthwhile();
  }

  /** Waits for the next batch of an order if it is being prepared; returns whether it is ready. */
  boolean awaitReady(PeekingIterator<?> order) {
    PrefetchedBatch next =
        awaitIdle() && order.companion() instanceof Slot slot ? slot.prepared.get() : null;
    return next != null && next.samples == order.peek() && next.batch.get() != null;
  }

  /**
   * Waits until no batch is being prepared; returns false on the preparing thread, or if that
   * thread hangs.
   */
  boolean awaitIdle() {
    if (preparing == Thread.currentThread()) {
      return false;
    }
    EarlyBatch running = last();
    hangs = running != null && !running.await(hangs ? Duration.ZERO : patience);
    if (hangs) {
      slots.forEach(slot -> discard(slot.prepared.getAndSet(null)));
      log.once(
          leavesMessage(
              "preparing a batch hangs; perhaps it waits for a lock that the program holds"));
    }
    return !hangs;
  }

  private synchronized @Nullable EarlyBatch last() {
    return last;
  }

  private synchronized boolean begin(EarlyBatch batch) {
    boolean begun = batch.begin(prefetcher);
    if (begun) {
      last = batch;
    }
    return begun;
  }

  private Slot slot(LibraryEpoch pipeline, PeekingIterator<?> order) {
    if (order.companion() instanceof Slot known) {
      return known;
    }
    Slot slot = new Slot(order, dropped, pipeline.dataset());
    order.accompany(slot);
    if (examine(slot, pipeline, pipeline.settings())) {
      slots.add(slot);
    }
    return slot;
  }

  /** Examines the objects that prepare batches; returns whether they allow prefetching. */
  private boolean examine(Slot slot, LibraryEpoch pipeline, Object settings) {
    List<@Nullable Object> parts = new ArrayList<>();
    pipeline.stages(settings).forEach(parts::addAll);
    String reason = code.reasonToLeave(parts);
    if (reason != null) {
      slot.stopped = true;
      log.once(leavesMessage(reason));
    }
    slot.examined = settings;
    return reason == null;
  }

  /**
   * Returns the prepared batch; null if there is none, or if the program's own call must run: it
   * may now prepare a different batch, or react to an interrupt of this thread.
   */
  private @Nullable Object take(
      PrefetchedBatch prepared, LibraryEpoch pipeline, Object samples, int position) {
    Object batch = prepared.batch.get();
    if (batch == null || prepared.samples != samples || prepared.position != position) {
      return null;
    } else if (Thread.currentThread().isInterrupted()) {
      prepared.why = "the program requests them on an interrupted thread";
      return null;
    }
    if (!pipeline.isCurrent(prepared.settings)) {
      prepared.why = pipeline.change();
      return null;
    }
    boolean areKnown = prepared.files.areKnown() && !prefetcher.mayMiss(prepared.files);
    if (!areKnown || !prepared.files.areUnchanged()) {
      prepared.why = areKnown ? "the program's files change between its batches" : UNKNOWN_FILES;
      return null;
    }
    if (!pipeline.handOver(batch)) {
      return null;
    }
    // The starting state matters only if the batch has drawn from the generator.
    boolean current = prepared.from.isAt(prepared.to) || random.advance(prepared.from, prepared.to);
    return current ? prepared.batch.take() : null;
  }

  private static void discard(@Nullable PrefetchedBatch prepared) {
    if (prepared != null) {
      prepared.batch.discard();
    }
  }

  private void prepareNext(
      LibraryEpoch pipeline, PeekingIterator<?> order, Slot slot, int position) {
    Object samples = order.peek();
    if (samples == null || slot.stopped) {
      slots.remove(slot); // Nothing more of this epoch is prefetched.
      return;
    }
    Object settings = pipeline.settings();
    Object examined = slot.examined;
    if ((examined == null || !pipeline.haveSameParts(settings, examined))
        && !examine(slot, pipeline, settings)) {
      return;
    }
    int next = position + pipeline.count(samples);
    PrefetchedBatch prepared = new PrefetchedBatch(pipeline, samples, next, settings);
    slot.prepared.set(prepared);
    if (!begin(prepared.batch)) {
      slot.prepared.set(null);
    }
  }

  /**
   * Returns null if preparing failed or the library prepares the batch itself; the program's own
   * call then runs, and throws if it fails too.
   */
  private @Nullable Object prepare(LibraryEpoch pipeline, PrefetchedBatch prepared)
      throws Exception {
    preparing = Thread.currentThread();
    random.drawFrom(prepared.to);
    Producers.listen(prepared.files::openEarly);
    try {
      Object batch = pipeline.prefetch(prepared.settings, prepared.samples, prepared.position);
      if (batch == null) {
        prepared.why = "the library makes them itself";
      }
      return batch;
    } catch (EarlyFileError | NotPreparedException e) {
      Throwable thrown = Objects.requireNonNullElse(e.getCause(), e);
      prepared.why =
          thrown instanceof EarlyFileError
              ? UNKNOWN_FILES
              : "preparing them throws " + thrown.getClass().getName();
      return null;
    } finally {
      Producers.listen(null);
      random.endFork();
      preparing = null;
    }
  }

  /**
   * A batch that the program has requested. {@link #result} is the prefetched batch, or the
   * program's own.
   */
  public final class Asked extends InterceptedCall {
    private final LibraryEpoch pipeline;
    private final PeekingIterator<?> order;
    private final Slot slot;
    private final int position;

    private Asked(
        LibraryEpoch pipeline,
        PeekingIterator<?> order,
        Slot slot,
        int position,
        @Nullable Object batch) {
      super(batch);
      this.pipeline = pipeline;
      this.order = order;
      this.slot = slot;
      this.position = position;
    }

    /** Returns the prefetched batch; null if there is none. */
    @Nullable Object batch() {
      return super.result(null);
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      next();
      return super.result(own);
    }

    /** Starts preparing the next batch. */
    void next() {
      try {
        if (prefetcher.isWorthwhile()) {
          prepareNext(pipeline, order, slot, position);
        }
      } catch (Throwable e) { // The current batch must not be lost.
        Bridge.fault("preparing the next batch", e);
      }
    }
  }

  /** A batch that was, or is being, prepared. */
  private final class PrefetchedBatch {
    final Object samples;
    final int position;

    /** The generator before the batch was prepared. */
    final ForkableRandom from;

    /** The fork of {@link #from} that the batch draws from. */
    final ForkableRandom to;

    final Object settings;
    final EarlyBatch batch;

    /** The reason to report if the program does not get the batch. */
    volatile String why;

    final OpenedFiles files = new OpenedFiles();

    PrefetchedBatch(LibraryEpoch pipeline, Object samples, int position, Object settings) {
      this.samples = samples;
      this.position = position;
      this.from = random.fork();
      this.to = from.fork();
      this.settings = settings;
      this.why = "the program draws from " + generator + " between its batches";
      this.batch = new EarlyBatch(() -> prepare(pipeline, this), drop);
    }
  }

  /** The prefetched batch of one epoch; lives as long as the epoch's order. */
  private static final class Slot extends WeakReference<Object> {
    /** Weak, because the program may drop the data set long before it begins another epoch. */
    final WeakReference<Object> dataset;

    /** Consecutive useless batches; accessed only by the thread that requests batches. */
    int useless;

    /** Whether nothing more of this epoch is prefetched. */
    boolean stopped;

    /** The settings that were last examined; null if they may have changed. */
    volatile @Nullable Object examined;

    final AtomicReference<@Nullable PrefetchedBatch> prepared = new AtomicReference<>();

    Slot(Object order, ReferenceQueue<Object> dropped, Object dataset) {
      super(order, dropped);
      this.dataset = new WeakReference<>(dataset);
    }
  }
}
