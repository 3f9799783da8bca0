package io.coordl.djl;

import ai.djl.Device;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDResource;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Pipeline;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.AheadRandom;
import io.coordl.bridge.Bridge;
import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.PeekingIterator;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.PurityAnalyzer;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The next batch of a pass, prepared on a thread of the agent while the program computes: {@code
 * DataIterable.fetch} without an executor.
 *
 * <p><b>The same batch.</b> What {@code fetch} makes depends on the indices, which are known, and
 * on what the pipeline does, which is looked at once per pass by {@link PurityAnalyzer}: it may
 * draw from {@link RandomUtils#RANDOM} and from nothing else, and read nothing that changes. Its
 * draws come from a copy of that generator. When the program asks for the batch, the generator is
 * moved on to where the copy came; if the program has drawn from it in between, a batch that has
 * drawn, too, is thrown away and the program's own call makes it. So a batch that nobody asks for
 * leaves no trace. What the library lets the program change at any time, the pipeline's list of
 * transforms and their arrays, is copied first and compared when the batch is asked for ({@link
 * FixedPipeline}). A pipeline that throws ahead of time has prepared nothing: the program's own
 * call throws if it should.
 *
 * <p><b>The same arrays' owners.</b> A batch is prepared by an iterable of our own over a manager
 * of our own, so that the program may close its manager at any time; the arrays are handed to the
 * program's manager when it takes the batch.
 *
 * <p><b>Never two at once.</b> A program without an executor runs its pipeline on one thread. So
 * does this: one thread prepares, and a {@code fetch} of the program waits until it is done.
 *
 * <p>At most one batch per iterable is ahead; it goes when the program begins another pass over the
 * data set, or has dropped the iterable.
 */
final class BatchesAhead {
  /** After so many batches in a row that were thrown away, or failed, a pass is left alone. */
  private static final int MAX_IN_VAIN = 3;

  /** Of a program that waits for the agent's thread; a pipeline that hangs would hang in it too. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Prefetcher ahead;
  private final Consumer<String> words;
  private final PurityAnalyzer code;
  private final @Nullable AheadRandom random;
  private final Fields fields = new Fields();
  private final FixedPipeline.Copies pipelines = new FixedPipeline.Copies();
  private final Method fetch;
  private final Set<String> said = ConcurrentHashMap.newKeySet();
  private final Set<Slot> slots = ConcurrentHashMap.newKeySet();
  private final ReferenceQueue<Object> dropped = new ReferenceQueue<>();

  /** Guards everything below, and what is prepared. */
  private final Object lock = new Object();

  private @Nullable Thread preparing;
  private int underWay;

  /** The thread that prepares did not come out of the program's code: it is left there. */
  private volatile boolean hangs;

  BatchesAhead(Prefetcher ahead, Consumer<String> words) throws ReflectiveOperationException {
    this.ahead = ahead;
    this.words = words;
    this.code = new PurityAnalyzer(Library.PREFIX, new Library());
    this.random = RandomUtils.RANDOM instanceof AheadRandom ours ? ours : null;
    this.fetch = DataIterable.class.getDeclaredMethod("fetch", List.class, int.class);
    fetch.setAccessible(true);
    if (random == null) {
      say("DJL's random generator is older than the agent");
    }
  }

  private void say(String reason) {
    if (said.add(reason)) {
      words.accept("prefetch prepares no batches ahead: " + reason + ".");
    }
  }

  /**
   * A data set is about to be prepared, which may set what batches are made of: what is ahead may
   * be made of what was there before, of this data set or of another one that has it.
   */
  void prepare() {
    if (awaitIdle()) {
      for (Slot slot : slots) {
        slot.looked = null;
        discard(slot.take());
      }
    }
  }

  /** A pass over a data set begins: what is ahead of another one may never be asked for. */
  void begin(RandomAccessDataset dataset) {
    reap();
    for (Slot slot : slots) {
      if (slot.dataset == dataset) {
        discard(slot.take());
      }
    }
  }

  /** Frees what is ahead of iterables that the program has dropped. */
  private void reap() {
    Reference<?> gone;
    while ((gone = dropped.poll()) != null) {
      if (gone instanceof Slot slot) {
        slots.remove(slot);
        discard(slot.take());
      }
    }
  }

  /** Before {@code fetch} of an iterable, on a thread of the program or on ours. */
  @Nullable LibraryCall enter(DataIterable iterable, List<Long> indices, int progress)
      throws IllegalAccessException {
    AheadRandom generator = random;
    if (generator == null
        || iterable.getClass() != DataIterable.class
        || fields.executor.get(iterable) != null
        || hangs
        || !awaitIdle()) {
      return null;
    }
    reap();
    if (!(fields.sample.get(iterable) instanceof PeekingIterator<?> order)) {
      return null;
    }
    Slot slot = slot(iterable, order);
    if (slot.left) {
      return null;
    }
    if (slot.looked == null && !look(slot, iterable)) {
      return null;
    }
    Prepared prepared = slot.take();
    if (prepared == null) {
      return new Call(iterable, order, slot, progress, null);
    }
    if (take(prepared, iterable, indices, progress, generator)) {
      slot.inVain = 0;
      ahead.used();
      return new Call(iterable, order, slot, progress, prepared);
    }
    discard(prepared);
    if (++slot.inVain == MAX_IN_VAIN) {
      slot.left = true;
      Throwable failure = prepared.failure;
      say(
          failure != null
              ? "it throws a " + failure.getClass().getName()
              : prepared.changed
                  ? "the program changes its transforms between its batches"
                  : "the program draws from DJL's random generator between its batches");
      return null;
    }
    return new Call(iterable, order, slot, progress, null);
  }

  /**
   * Waits until nothing is being prepared; false on the thread that prepares, or if that hangs. An
   * interrupt neither ends the wait nor is lost.
   */
  private boolean awaitIdle() {
    boolean interrupted = false;
    synchronized (lock) {
      if (preparing == Thread.currentThread()) {
        return false;
      }
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      long left;
      while (underWay > 0 && (left = deadline - System.nanoTime()) > 0) {
        try {
          lock.wait(left / 1_000_000 + 1);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      hangs = underWay > 0;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (hangs) {
      slots.forEach(slot -> discard(slot.take()));
      say("a batch does not come, perhaps for a lock that the program holds");
    }
    return !hangs;
  }

  private Slot slot(DataIterable iterable, PeekingIterator<?> order) throws IllegalAccessException {
    if (order.companion() instanceof Slot known) {
      return known;
    }
    RandomAccessDataset dataset = (RandomAccessDataset) fields.dataset.get(iterable);
    Slot slot = new Slot(order, dropped, dataset);
    order.accompany(slot);
    if (look(slot, iterable)) {
      slots.add(slot);
    }
    return slot;
  }

  /** Whether what batches are made of may be run ahead, as it is now. */
  private boolean look(Slot slot, DataIterable iterable) throws IllegalAccessException {
    Fixed fixed = fix(iterable);
    List<@Nullable Object> parts = new ArrayList<>();
    parts.add(slot.dataset);
    parts.add(fixed.factory());
    parts.add(fields.dataBatchifier.get(iterable));
    parts.add(fields.labelBatchifier.get(iterable));
    parts.addAll(FixedPipeline.parts(fixed.data()));
    parts.addAll(FixedPipeline.parts(fixed.labels()));
    String reason = code.reasonToLeave(parts);
    if (reason != null) {
      slot.left = true;
      say(reason);
    }
    slot.looked = fixed;
    return reason == null;
  }

  /** What the program can change at any time, as it is now. */
  private Fixed fix(DataIterable iterable) throws IllegalAccessException {
    return new Fixed(
        ImageFactory.getInstance(),
        pipelines.copy((Pipeline) fields.pipeline.get(iterable)),
        pipelines.copy((Pipeline) fields.targetPipeline.get(iterable)));
  }

  /**
   * Makes a prepared batch the program's, with all that its own call would have changed; false if
   * it is not what its own call would make now. A thread that is interrupted makes its own call: it
   * may be one that minds.
   */
  private boolean take(
      Prepared prepared,
      DataIterable iterable,
      List<Long> indices,
      int progress,
      AheadRandom generator) {
    Batch batch = prepared.batch;
    if (!prepared.done
        || prepared.indices != indices
        || prepared.progress != progress
        || batch == null
        || Thread.currentThread().isInterrupted()) {
      return false;
    }
    try {
      if (!isFromThis(prepared, iterable)) {
        prepared.changed = true;
        return false;
      }
      NDManager target = ((NDManager) fields.manager.get(iterable)).newSubManager();
      target.setName("dataIter fetch");
      batch.getData().attach(target);
      batch.getLabels().attach(target);
      fields.batchManager.set(batch, target);
      prepared.close();
    } catch (IllegalAccessException | RuntimeException e) {
      return false; // The program has closed its manager: its own call says so.
    }
    if (!advance(generator, prepared)) {
      batch.close();
      return false;
    }
    return true;
  }

  /** Whether a batch was made of what the program's own call would take now. */
  private boolean isFromThis(Prepared prepared, DataIterable iterable)
      throws IllegalAccessException {
    Fixed fixed = prepared.fixed;
    return fixed.factory() == ImageFactory.getInstance()
        && FixedPipeline.isSame(fixed.data(), (Pipeline) fields.pipeline.get(iterable), pipelines)
        && FixedPipeline.isSame(
            fixed.labels(), (Pipeline) fields.targetPipeline.get(iterable), pipelines);
  }

  /** What a batch was prepared from counts only if it has drawn. */
  private static boolean advance(AheadRandom generator, Prepared prepared) {
    return prepared.from.isAt(prepared.to) || generator.advance(prepared.from, prepared.to);
  }

  private void discard(@Nullable Prepared prepared) {
    if (prepared != null) {
      synchronized (lock) {
        prepared.discarded = true;
        if (!prepared.done) {
          return; // Closed when it is.
        }
      }
      prepared.close();
    }
  }

  /** Prepares the batch after this one, if there is one. */
  private void prepareNext(DataIterable iterable, PeekingIterator<?> order, Slot slot, int progress)
      throws IllegalAccessException {
    AheadRandom generator = random;
    if (generator == null || !(order.peek() instanceof List<?> peeked) || slot.left) {
      return;
    }
    @SuppressWarnings("unchecked") // What the sampler of a DataIterable yields.
    List<Long> indices = (List<Long>) peeked;
    Fixed fixed = fix(iterable);
    if (!fixed.hasPartsOf(slot.looked) && !look(slot, iterable)) {
      return;
    }
    Prepared prepared = new Prepared(indices, progress + indices.size(), generator.copy(), fixed);
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    synchronized (lock) {
      underWay++;
    }
    slot.put(prepared);
    try {
      ahead.batches().execute(() -> prepare(iterable, prepared, loader, generator));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      synchronized (lock) {
        underWay--; // The job ends, or no thread can be started.
      }
      slot.take();
    }
  }

  private void prepare(
      DataIterable iterable,
      Prepared prepared,
      @Nullable ClassLoader loader,
      AheadRandom generator) {
    synchronized (lock) {
      preparing = Thread.currentThread();
    }
    Thread.currentThread().setContextClassLoader(loader);
    boolean inside = Producers.enter();
    long span = Spans.enter(SpanKind.PRODUCER, null);
    generator.drawAhead(prepared.to);
    try {
      if (inside && !prepared.discarded) {
        prepared.batch = (Batch) fetch.invoke(shadow(iterable, prepared), prepared.arguments());
      }
    } catch (InvocationTargetException e) {
      prepared.failure = e.getCause(); // The program's own call shows whether it throws then.
    } catch (Throwable t) {
      Bridge.fault("preparing a batch ahead", t);
    } finally {
      generator.endAhead();
      Spans.exit(span, null);
      if (prepared.batch != null) {
        ahead.prepared();
      }
      Thread.currentThread().setContextClassLoader(null);
      boolean unwanted;
      synchronized (lock) {
        preparing = null;
        underWay--;
        prepared.done = true;
        unwanted = prepared.discarded || Producers.areOff();
        lock.notifyAll();
      }
      if (inside) {
        Producers.exit();
      }
      if (unwanted) {
        prepared.close();
      }
    }
  }

  /** An iterable that prepares as the program's does, under a manager of ours. */
  private DataIterable shadow(DataIterable iterable, Prepared prepared)
      throws IllegalAccessException {
    NDManager programs = (NDManager) fields.manager.get(iterable);
    NDManager own = programs.getEngine().newBaseManager(programs.getDevice());
    prepared.manager = own;
    FixedPipeline data = prepared.fixed.data();
    FixedPipeline labels = prepared.fixed.labels();
    return new DataIterable(
        (RandomAccessDataset) fields.dataset.get(iterable),
        own,
        NO_ORDER,
        (Batchifier) fields.dataBatchifier.get(iterable),
        (Batchifier) fields.labelBatchifier.get(iterable),
        data == null ? null : data.copy(),
        labels == null ? null : labels.copy(),
        null,
        0,
        (Device) fields.device.get(iterable));
  }

  /** An iterable of our own is only asked to fetch. */
  private static final Sampler NO_ORDER =
      new Sampler() {
        @Override
        public Iterator<List<Long>> sample(RandomAccessDataset dataset) {
          return Collections.emptyIterator();
        }

        @Override
        public int getBatchSize() {
          return -1;
        }
      };

  /** One call of {@code fetch} by the program. */
  private final class Call extends LibraryCall {
    private final DataIterable iterable;
    private final PeekingIterator<?> order;
    private final Slot slot;
    private final int progress;
    private final @Nullable Prepared taken;

    Call(
        DataIterable iterable,
        PeekingIterator<?> order,
        Slot slot,
        int progress,
        @Nullable Prepared taken) {
      this.iterable = iterable;
      this.order = order;
      this.slot = slot;
      this.progress = progress;
      this.taken = taken;
    }

    @Override
    public boolean answered() {
      return taken != null;
    }

    @Override
    public @Nullable Throwable thrown() {
      return null;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      try {
        prepareNext(iterable, order, slot, progress);
      } catch (Throwable e) { // The batch that is there must not be lost.
        Bridge.fault("preparing the next batch", e);
      }
      return taken == null ? own : taken.batch;
    }
  }

  /** What the program can change at any time, as it was. */
  private record Fixed(
      @Nullable ImageFactory factory,
      @Nullable FixedPipeline data,
      @Nullable FixedPipeline labels) {
    boolean hasPartsOf(@Nullable Fixed other) {
      return other != null
          && factory == other.factory
          && FixedPipeline.haveSameTransforms(data, other.data)
          && FixedPipeline.haveSameTransforms(labels, other.labels);
    }
  }

  /** A batch that was, or is being, prepared. */
  private static final class Prepared {
    final List<Long> indices;
    final int progress;

    /** The generator when the batch was begun, and when it was done. */
    final AheadRandom from;

    final AheadRandom to;
    final Fixed fixed;
    @Nullable NDManager manager;
    @Nullable Batch batch;
    @Nullable Throwable failure;

    /** Whether the program has changed what it was made of. */
    boolean changed;

    volatile boolean done;
    volatile boolean discarded;

    Prepared(List<Long> indices, int progress, AheadRandom from, Fixed fixed) {
      this.indices = indices;
      this.progress = progress;
      this.from = from;
      this.to = from.copy();
      this.fixed = fixed;
    }

    Object[] arguments() {
      return new Object[] {indices, progress};
    }

    /** Frees the arrays that are not the program's. */
    void close() {
      NDManager own = manager;
      if (own != null) {
        own.close();
      }
    }
  }

  /** What is ahead of one iterable; lives as long as its order. */
  private static final class Slot extends WeakReference<Object> {
    final RandomAccessDataset dataset;

    /** Used by the iterable's own thread. */
    int inVain;

    boolean left;

    /** What was looked at; null if that may have changed since. */
    volatile @Nullable Fixed looked;

    private final AtomicReference<@Nullable Prepared> prepared = new AtomicReference<>();

    Slot(Object order, ReferenceQueue<Object> dropped, RandomAccessDataset dataset) {
      super(order, dropped);
      this.dataset = dataset;
    }

    void put(Prepared next) {
      prepared.set(next);
    }

    @Nullable Prepared take() {
      return prepared.getAndSet(null);
    }
  }

  /** What is known of DJL. */
  private static final class Library implements PurityAnalyzer.Known {
    static final String PREFIX = "ai.djl.";

    /** Of the engine's generator, which cannot be drawn from ahead, or with no work to do. */
    private static final Set<String> DRAWING =
        Set.of("RandomHue", "RandomBrightness", "RandomColorJitter");

    /** Packages and classes whose methods depend on what they are given, and draw as is known. */
    private static final List<String> KNOWN =
        List.of(
            "ai/djl/ndarray/",
            "ai/djl/modality/",
            "ai/djl/translate/",
            "ai/djl/training/dataset/",
            "ai/djl/basicdataset/",
            "ai/djl/util/RandomUtils",
            "ai/djl/util/Pair",
            "ai/djl/util/Preconditions",
            "ai/djl/util/Float16Utils",
            "ai/djl/Device");

    /** Classes and methods among these that do more. */
    private static final Set<String> UNKNOWN =
        Set.of(
            "ai/djl/ndarray/NDScope",
            "ai/djl/translate/TranslatorContext",
            "prepare",
            "getData",
            "fromUrl",
            "setImageFactory",
            "getEngine",
            "getGpuCount");

    @Override
    public @Nullable String reasonToLeave(Class<?> type) {
      if (NDResource.class.isAssignableFrom(type)) {
        return "is kept by it, which the program may close meanwhile";
      }
      return DRAWING.contains(type.getSimpleName()) ? "draws from the engine's generator" : null;
    }

    /** The base classes only keep what they make iterables of, which are looked at themselves. */
    @Override
    public boolean isClosed(Class<?> type) {
      String name = type.getName();
      return type == RandomAccessDataset.class
          || name.startsWith("ai.djl.repository.")
          || name.startsWith("ai.djl.engine.")
          || name.startsWith("ai.djl.Device");
    }

    /** Lists of indices that the program made stay its own. */
    @Override
    public boolean keepsItsOwn(Class<?> declaring) {
      return RandomAccessDataset.class.isAssignableFrom(declaring)
          && !declaring.getName().endsWith("SubDatasetByIndices");
    }

    @Override
    public boolean isKnown(String owner, String method) {
      boolean draws =
          method.startsWith("random")
              || method.startsWith("truncated")
              || method.startsWith("sample");
      return (KNOWN.stream().anyMatch(owner::startsWith) || owner.endsWith("Exception"))
          && !UNKNOWN.contains(owner)
          && !UNKNOWN.contains(method)
          && (!draws
              || owner.equals("ai/djl/util/RandomUtils")
              || owner.equals("ai/djl/modality/cv/util/NDImageUtils"));
    }

    @Override
    public boolean readsFile(String owner, String method) {
      return (owner.endsWith("ImageFactory") && method.equals("fromFile"))
          || (owner.startsWith("ai/djl/ndarray/") && method.equals("load"));
    }

    @Override
    public boolean copies(String owner, String method) {
      return owner.equals("ai/djl/ndarray/NDManager") && method.equals("create");
    }

    @Override
    public boolean isAnnounced(String method, String descriptor) {
      return (method + descriptor).equals("prepare(Lai/djl/util/Progress;)V");
    }

    @Override
    public String getsItem() {
      return "get(Lai/djl/ndarray/NDManager;J)Lai/djl/training/dataset/Record;";
    }
  }

  /** The fields of {@link DataIterable} and {@link Batch} that have no accessor. */
  private static final class Fields {
    final Field executor = Symbols.field(DataIterable.class, "executor");
    final Field sample = Symbols.field(DataIterable.class, "sample");
    final Field dataset = Symbols.field(DataIterable.class, "dataset");
    final Field manager = Symbols.field(DataIterable.class, "manager");
    final Field dataBatchifier = Symbols.field(DataIterable.class, "dataBatchifier");
    final Field labelBatchifier = Symbols.field(DataIterable.class, "labelBatchifier");
    final Field pipeline = Symbols.field(DataIterable.class, "pipeline");
    final Field targetPipeline = Symbols.field(DataIterable.class, "targetPipeline");
    final Field device = Symbols.field(DataIterable.class, "device");
    final Field batchManager = Symbols.field(Batch.class, "manager");

    Fields() throws NoSuchFieldException {}
  }
}
