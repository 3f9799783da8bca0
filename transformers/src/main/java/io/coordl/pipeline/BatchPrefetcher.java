package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.Producers;
import io.coordl.log.OnceLog;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.staging.NotPreparedException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The next batch of an epoch, prepared on a thread of the agent while the program computes, for
 * pipelines that the library runs on the program's own thread.
 *
 * <p><b>The same batch.</b> What a pipeline makes depends on the samples, which are known, and on
 * what its parts do, which is looked at once per epoch by {@link PurityAnalyzer}: they may draw
 * from the library's generator and from nothing else, and read nothing that changes. The draws come
 * from a fork of that generator. When the program asks for the batch, the generator is moved on to
 * where the fork came; if the program has drawn from it in between, a batch that has drawn, too, is
 * thrown away and the program's own call makes it. So a batch that is never asked for leaves no
 * trace. What the library lets the program change at any time is copied first, and compared when
 * the batch is asked for, as are size, modification time and inode of the files that were opened. A
 * pipeline that throws on our thread has prepared nothing: the program's own call throws if it
 * should.
 *
 * <p><b>Never two at once.</b> One thread prepares, and a call of the program waits until it is
 * done.
 *
 * <p>At most one batch per epoch is prefetched; it is dropped when the program begins another epoch
 * of the data set, or has dropped the order.
 */
public final class BatchPrefetcher {
  /** After so many batches in a row that were thrown away, or failed, an epoch is left alone. */
  private static final int MAX_IN_VAIN = 3;

  private final Prefetcher prefetcher;
  private final OnceLog log;
  private final PurityAnalyzer code;
  private final ForkableRandom random;
  private final String generator;
  private final Consumer<Object> drop;
  private final Set<Slot> slots = ConcurrentHashMap.newKeySet();
  private final ReferenceQueue<Object> dropped = new ReferenceQueue<>();

  Duration patience = EarlyBatch.PATIENCE; // Tests have less.

  /** The batch begun last: one thread makes them, in the order in which they are begun. */
  private @Nullable EarlyBatch last;

  /** The thread that makes a batch now. */
  private volatile @Nullable Thread preparing;

  /** The thread that prepares did not come out of the program's code: it is left there. */
  private volatile boolean hangs;

  /**
   * Prepares batches of one library.
   *
   * @param code tells what may be prefetched
   * @param random the one generator that pipelines may draw from
   * @param generator its name, for the user
   * @param drop frees a batch that the program does not get, handed over or not
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

  /** Why batches are not prefetched, for the user. */
  public static String leaves(String reason) {
    return "prefetch leaves batches to the program: " + reason + ".";
  }

  /**
   * A data set is about to be prepared, which may set what batches are made of: what is prefetched
   * may be made of what was there before, of this data set or of another one that has it.
   */
  public void prepare() {
    if (awaitIdle()) {
      for (Slot slot : slots) {
        slot.looked = null;
        discard(slot.prepared.getAndSet(null));
      }
    }
  }

  /** An epoch of a data set begins: what was prefetched of another one may never be asked for. */
  public void begin(Object dataset) {
    reap();
    for (Slot slot : slots) {
      if (slot.dataset.refersTo(dataset)) {
        discard(slot.prepared.getAndSet(null));
      }
    }
  }

  /** Frees what was prefetched of orders that the program has dropped. */
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
   * The program asks for a batch, on its thread or on ours.
   *
   * @param samples and {@code position} as {@link PrefetchedPipeline#prefetch} is given them
   * @return null if its own call is to be left alone
   */
  public @Nullable InterceptedCall enter(
      PrefetchedPipeline pipeline, Object samples, int position) {
    if (hangs || !awaitIdle()) {
      return null;
    }
    reap();
    PeekingIterator<?> order = pipeline.upcoming();
    if (order == null || (!prefetcher.isWorthwhile() && !(order.companion() instanceof Slot))) {
      return null;
    }
    Slot slot = slot(pipeline, order);
    if (slot.left || (slot.looked == null && !look(slot, pipeline, pipeline.settings()))) {
      return null;
    }
    Prepared prepared = slot.prepared.getAndSet(null);
    Object batch = prepared == null ? null : take(prepared, pipeline, samples, position);
    if (batch != null) {
      slot.inVain = 0;
      prefetcher.used();
    } else if (prepared != null) {
      discard(prepared);
      if (++slot.inVain == MAX_IN_VAIN) {
        slot.left = true;
        log.once(leaves(prepared.why));
        return null;
      }
    }
    return call(pipeline, order, slot, position, batch);
  }

  /** Waits until nothing is being prepared; false on the thread that prepares, or if that hangs. */
  private boolean awaitIdle() {
    if (preparing == Thread.currentThread()) {
      return false;
    }
    EarlyBatch underWay = last();
    hangs = underWay != null && !underWay.await(hangs ? Duration.ZERO : patience);
    if (hangs) {
      slots.forEach(slot -> discard(slot.prepared.getAndSet(null)));
      log.once(leaves("a batch does not come, perhaps for a lock that the program holds"));
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

  private Slot slot(PrefetchedPipeline pipeline, PeekingIterator<?> order) {
    if (order.companion() instanceof Slot known) {
      return known;
    }
    Slot slot = new Slot(order, dropped, pipeline.dataset());
    order.accompany(slot);
    if (look(slot, pipeline, pipeline.settings())) {
      slots.add(slot);
    }
    return slot;
  }

  /** Whether what batches are made of may be prefetched. */
  private boolean look(Slot slot, PrefetchedPipeline pipeline, Object settings) {
    String reason = code.reasonToLeave(pipeline.parts(settings));
    if (reason != null) {
      slot.left = true;
      log.once(leaves(reason));
    }
    slot.looked = settings;
    return reason == null;
  }

  /**
   * The batch that was prepared; null if it is not what the program's own call would make now. A
   * thread that is interrupted makes its own call: it may be one that minds.
   */
  private @Nullable Object take(
      Prepared prepared, PrefetchedPipeline pipeline, Object samples, int position) {
    Object batch = prepared.batch.get();
    if (batch == null
        || prepared.samples != samples
        || prepared.position != position
        || Thread.currentThread().isInterrupted()) {
      return null;
    }
    if (!pipeline.isCurrent(prepared.settings)) {
      prepared.why = "the program changes its transforms between its batches";
      return null;
    }
    if (!prepared.files.areUnchanged()) {
      prepared.why =
          prepared.files.areKnown()
              ? "the program rewrites its files between its batches"
              : "it reads files of another file system, where changes are not seen";
      return null;
    }
    if (!pipeline.handOver(batch)) {
      return null;
    }
    // What it was prepared from counts only if it has drawn.
    boolean current = prepared.from.isAt(prepared.to) || random.advance(prepared.from, prepared.to);
    return current ? batch : null;
  }

  private static void discard(@Nullable Prepared prepared) {
    if (prepared != null) {
      prepared.batch.discard();
    }
  }

  private void prepareNext(
      PrefetchedPipeline pipeline, PeekingIterator<?> order, Slot slot, int position) {
    Object samples = order.peek();
    if (samples == null || slot.left) {
      slots.remove(slot); // Nothing more of it is prefetched.
      return;
    }
    Object settings = pipeline.settings();
    Object looked = slot.looked;
    if ((looked == null || !pipeline.haveSameParts(settings, looked))
        && !look(slot, pipeline, settings)) {
      return;
    }
    int next = position + pipeline.count(samples);
    Prepared prepared = new Prepared(pipeline, samples, next, settings);
    slot.prepared.set(prepared);
    if (!begin(prepared.batch)) {
      slot.prepared.set(null);
    }
  }

  /** Null if the program's own call is to show whether it throws then. */
  private @Nullable Object prepare(PrefetchedPipeline pipeline, Prepared prepared)
      throws Exception {
    preparing = Thread.currentThread();
    random.drawFrom(prepared.to);
    Producers.listen(prepared.files);
    try {
      return pipeline.prefetch(prepared.settings, prepared.samples, prepared.position);
    } catch (NotPreparedException e) {
      Throwable thrown = Objects.requireNonNullElse(e.getCause(), e);
      prepared.why = "it throws a " + thrown.getClass().getName();
      return null;
    } finally {
      Producers.listen(null);
      random.endFork();
      preparing = null;
    }
  }

  /** One call for a batch by the program, which gets the one taken; null: its own. */
  private InterceptedCall call(
      PrefetchedPipeline pipeline,
      PeekingIterator<?> order,
      Slot slot,
      int position,
      @Nullable Object taken) {
    return new InterceptedCall(taken) {
      @Override
      public @Nullable Object result(@Nullable Object own) {
        try {
          if (prefetcher.isWorthwhile()) {
            prepareNext(pipeline, order, slot, position);
          }
        } catch (Throwable e) { // The batch that is there must not be lost.
          Bridge.fault("preparing the next batch", e);
        }
        return super.result(own);
      }
    };
  }

  /** A batch that was, or is being, prepared. */
  private final class Prepared {
    final Object samples;
    final int position;

    /** The generator when the batch was begun, and when it was done. */
    final ForkableRandom from;

    final ForkableRandom to;
    final Object settings;
    final EarlyBatch batch;

    /** Why it is of no use if it is not taken. */
    volatile String why;

    final OpenedFiles files = new OpenedFiles();

    Prepared(PrefetchedPipeline pipeline, Object samples, int position, Object settings) {
      this.samples = samples;
      this.position = position;
      this.from = random.fork();
      this.to = from.fork();
      this.settings = settings;
      this.why = "the program draws from " + generator + " between its batches";
      this.batch = new EarlyBatch(() -> prepare(pipeline, this), drop);
    }
  }

  /** What is prefetched of one epoch; lives as long as its order. */
  private static final class Slot extends WeakReference<Object> {
    /** The program may drop it, and begin no other epoch for long. */
    final WeakReference<Object> dataset;

    /** Used by the iterable's own thread. */
    int inVain;

    boolean left;

    /** What was looked at; null if that may have changed since. */
    volatile @Nullable Object looked;

    final AtomicReference<@Nullable Prepared> prepared = new AtomicReference<>();

    Slot(Object order, ReferenceQueue<Object> dropped, Object dataset) {
      super(order, dropped);
      this.dataset = new WeakReference<>(dataset);
    }
  }
}
