package io.coordl.library.declared;

import io.coordl.coordination.PreparedBatch;
import io.coordl.host.AgentThread;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.ObjectDescription;
import io.coordl.pipeline.ObjectFields;
import io.coordl.pipeline.ObjectSnapshot;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.purity.Member;
import io.coordl.purity.PurityAnalyzer;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The batches of an iterator of the program. A proof from class files ({@link KnownLoop}) shows
 * that a batch, and the numbers in the iterator's fields after the call, depend only on the
 * iterator's {@link IteratorState} and on the files that the call opens. So a twin of the iterator
 * ({@link Twins}) prepares the batch, possibly early. When the program gets the batch, the
 * primitive fields of its own iterator are set to the twin's. All other methods, such as {@code
 * hasNext} and {@code reset}, run as before.
 *
 * <p>The program's thread records the state of its iterator. The agent's thread works from the
 * recorded state, so later changes to the iterator do not affect the batch.
 */
final class LoopEpoch implements LibraryEpoch {
  /** Assumed number of batches in an epoch; the real number is unknown. */
  static final int ASSUMED = 64;

  /** A prefetched batch must be smaller than the free memory divided by this. */
  private static final int FREE_DIVISOR = 4;

  private static final long HANDOVER_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final String AFTER = "after";

  /** Set while this thread runs code of the program to prepare a batch for the agent. */
  private static final ThreadLocal<Boolean> MAKING = new ThreadLocal<>();

  private final WeakReference<Object> iterator;
  private final Class<?> type;
  private final Method method;
  private final Twins twins;
  private final ObjectFields fields;
  private final PurityAnalyzer.Proof proof;
  private final List<Integer> copied;
  private final Set<Class<?>> recordsNotKept = new HashSet<>();
  private volatile @Nullable IteratorState now;

  /** The settings that the proof holds for. */
  private volatile IteratorState.@Nullable Settings proven;

  private volatile @Nullable IteratorState early;
  private volatile @Nullable String reason;
  private volatile boolean hasSameArguments = true;

  /** Size of the last batch. */
  private volatile long bytes;

  /** Time to prepare the last batch. */
  private volatile long nanos = Long.MAX_VALUE;

  LoopEpoch(Object iterator, Method method, Twins twins, PurityAnalyzer.Proof proof) {
    this.iterator = new WeakReference<>(iterator);
    this.type = iterator.getClass();
    this.method = method;
    this.twins = twins;
    this.fields = twins.fields();
    this.proof = proof;
    this.copied = fields.positions(proof.copied());
  }

  /** Whether this thread is preparing a batch for the agent. */
  static boolean isMaking() {
    return MAKING.get() != null;
  }

  /** Returns why batches that contain such a part are not served. */
  static String otherBatches(String part) {
    return "its batches contain more than Java arrays, buffers and records of these (" + part + ")";
  }

  // ---- on the program's thread

  /**
   * Called when the program requests a batch; returns false if the iterator's state cannot be
   * recorded.
   */
  boolean ask(Object[] arguments) {
    IteratorState before = now;
    List<Object> copy = Arrays.asList(arguments.clone());
    hasSameArguments = before == null || before.arguments().equals(copy);
    IteratorState current = take(copy, before);
    now = current;
    if (current != null && proven == null) {
      proven = current.settings();
    }
    return current != null;
  }

  private @Nullable IteratorState take(List<Object> arguments, @Nullable IteratorState before) {
    IteratorState current = IteratorState.of(dataset(), fields, copied, arguments, before);
    if (current == null) {
      reason = "it keeps a collection that the program may change, and that cannot be copied";
    }
    return current;
  }

  /** Returns why the batches are no longer served; null if they still are. */
  @Nullable String reason() {
    return reason;
  }

  /** Returns the time to prepare a batch; 0 if unknown. */
  long nanos() {
    return nanos == Long.MAX_VALUE ? 0 : nanos;
  }

  /** Returns the proof for the iterator's code. */
  PurityAnalyzer.Proof proof() {
    return proof;
  }

  @Override
  public boolean handOver(Object unit) {
    IteratorState before = iteratorState();
    fields.setNumbers(dataset(), before.numbers(), ((MadeBatch) unit).after());
    now = take(before.arguments(), before);
    return true;
  }

  // ---- on either thread

  private static boolean isOfAgent() {
    return Thread.currentThread() instanceof AgentThread;
  }

  private IteratorState iteratorState() {
    IteratorState state = isOfAgent() ? early : now;
    if (state == null) {
      throw new IllegalStateException("the state of the iterator is not known");
    }
    return state;
  }

  @Override
  public void enterThread() {
    early = now;
  }

  @Override
  public Object dataset() {
    return Objects.requireNonNull(iterator.get(), "the program has dropped the iterator");
  }

  @Override
  public String name() {
    return type.getName();
  }

  @Override
  public boolean isOpenEnded() {
    return true;
  }

  @Override
  public long size() {
    return ASSUMED;
  }

  @Override
  public Key identify(int unit) {
    return new Key(PreparedSamples.index(iteratorState().name()), 0);
  }

  @Override
  public Object settings() {
    return iteratorState().settings();
  }

  @Override
  public boolean isCurrent(Object settings) {
    return ((IteratorState.Settings) settings).isSame(iteratorState().settings());
  }

  @Override
  public @Nullable Object state(int unit) {
    return now == null ? null : iteratorState();
  }

  @Override
  public String change() {
    return "the program changes the fields of its iterator, or the arguments, between its batches";
  }

  /**
   * False if the iterator has changed since the proof, if the next call may have other arguments,
   * if the job may need the memory, or if handing the batch over from another thread would take
   * longer than preparing it on this one.
   */
  @Override
  public boolean mayRunEarly() {
    Runtime memory = Runtime.getRuntime();
    long free = memory.maxMemory() - memory.totalMemory() + memory.freeMemory();
    IteratorState next = now;
    IteratorState.Settings provenFor = proven;
    return hasSameArguments
        && next != null
        && provenFor != null
        && provenFor.isSame(next.settings())
        && nanos > HANDOVER_NANOS
        && bytes < free / FREE_DIVISOR;
  }

  /** False: the iterator's fields are compared before each batch. */
  @Override
  public boolean isAnnounced() {
    return false;
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Object twin = iteratorState().twin(twins);
    return twin == null ? List.of() : List.of(List.of(twin));
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    Object twin = iteratorState().twin(twins);
    return String.join(
        "\n",
        "JDK " + System.getProperty("java.runtime.version"),
        ((IteratorState.Settings) settings).defaults().toString(),
        "method " + method,
        ObjectDescription.of("iterator", twin, new Description(proof.reads(), type)));
  }

  @Override
  public String describe(String part, @Nullable Object value) throws CannotShareException {
    return ObjectDescription.of(part, value, new Description(proof.reads(), type));
  }

  // ---- preparing units

  @Override
  public Object make(int unit) {
    IteratorState state = iteratorState();
    @Nullable Object[] references = state.references();
    if (references == null) {
      throw new IllegalStateException("the program has changed its iterator");
    }
    Object twin = twins.twin(state.numbers(), references);
    Object batch;
    MAKING.set(true);
    try {
      // The program might request no further batch, and preparing one might never end.
      if (isOfAgent() && !twins.hasNext(twins.twin(state.numbers(), references))) {
        throw new IllegalStateException("no more batches");
      }
      long start = System.nanoTime();
      batch = method.invoke(twin, state.arguments().toArray());
      nanos = System.nanoTime() - start;
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause()); // The program's own call throws it again.
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    } finally {
      MAKING.remove();
    }
    if (batch == null) {
      throw new IllegalStateException("no batch");
    }
    check(batch, references, twin);
    return new MadeBatch(batch, fields.numbers(twin));
  }

  /**
   * Checks that the call left the references in the iterator's fields as they were, and that the
   * batch contains no object that the iterator keeps.
   */
  private void check(Object batch, @Nullable Object[] references, Object twin) {
    @Nullable Object[] after = fields.references(twin);
    for (int i = 0; i < after.length; i++) {
      if (after[i] != references[i]) {
        throw leave("it keeps objects of each batch");
      }
    }
    JavaBatch parts;
    try {
      parts = new JavaBatch(batch, type.getClassLoader());
    } catch (CannotShareException e) {
      throw leave(otherBatches(String.valueOf(e.getMessage())));
    }
    bytes = parts.length();
    List<Object> held = new ArrayList<>();
    for (int position : copied) {
      if (references[position] != null) {
        held.add(references[position]);
      }
    }
    if (parts.hasAny(held)) {
      throw leave("it keeps an array that it returns");
    }
    for (Class<?> recordClass : parts.records()) {
      if (!recordsNotKept.contains(recordClass)) {
        if (keeps(twin, recordClass)) {
          throw leave("it keeps objects of " + recordClass.getName() + ", which it may return");
        }
        recordsNotKept.add(recordClass);
      }
    }
  }

  /**
   * Whether records of a class are reachable from the iterator or from static fields that its code
   * reads; true if unknown.
   */
  private boolean keeps(Object twin, Class<?> recordClass) {
    List<@Nullable Object> roots = new ArrayList<>(proof.statics().values());
    roots.add(twin);
    for (Object root : roots) {
      List<Record> reachable =
          root == null ? List.of() : ObjectSnapshot.reachable(root, any -> true, Record.class);
      if (reachable == null || reachable.stream().anyMatch(recordClass::isInstance)) {
        return true;
      }
    }
    return false;
  }

  private IllegalStateException leave(String why) {
    reason = why;
    return new IllegalStateException(why);
  }

  @Override
  public @Nullable PreparedBatch toKeep(int unit, Object made, List<BatchLayout.Array> files) {
    MadeBatch result = (MadeBatch) made;
    List<BatchLayout.Array> more = new ArrayList<>(files);
    List<Long> after = result.after();
    for (int from = 0; from < after.size(); from += 255) {
      List<Long> some = after.subList(from, Math.min(from + 255, after.size()));
      more.add(new BatchLayout.Array(AFTER, "", "", some, 0));
    }
    try {
      return new JavaBatch(result.batch(), type.getClassLoader()).bytes(more);
    } catch (CannotShareException e) {
      return null;
    }
  }

  @Override
  public Object read(BatchLayout layout, ByteBuffer bytes) {
    List<Long> after = new ArrayList<>();
    for (BatchLayout.Array part : layout.arrays()) {
      if (part.role().equals(AFTER)) {
        after.addAll(part.shape());
      }
    }
    Object batch = JavaBatch.read(layout, bytes, type.getClassLoader());
    return new MadeBatch(batch, after);
  }

  /**
   * Describes objects of the program by those of their fields that matter to a batch.
   *
   * @param reads the fields that the code reads
   * @param iterator class of the iterator, whose primitive fields are part of each batch's key
   */
  private record Description(Set<Member> reads, Class<?> iterator)
      implements ObjectDescription.Library {
    @Override
    public boolean has(String className) {
      return false;
    }

    @Override
    public boolean describe(Object object, ObjectDescription to) {
      return false;
    }

    @Override
    public boolean isScratch(Field field) {
      return (field.getType().isPrimitive() && field.getDeclaringClass().isAssignableFrom(iterator))
          || !reads.contains(Member.of(field));
    }

    @Override
    public int maxObjects() {
      return 200_000;
    }

    @Override
    public boolean mapOrderMatters() {
      return true;
    }
  }
}
