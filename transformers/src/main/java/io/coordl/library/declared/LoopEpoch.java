package io.coordl.library.declared;

import io.coordl.coordination.PreparedBatch;
import io.coordl.host.AgentThread;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import io.coordl.pipeline.ObjectDescription;
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
 * An iterator of the program, whose units are its batches. A proof from class files ({@link
 * KnownLoop}) shows that the batch and the numbers that the call leaves in the iterator's fields
 * depend only on its {@link Place} and on the files that are opened. So a twin of the iterator
 * makes the batch, early or not, and the program's own fields are set to the twin's when the
 * program gets it. {@code hasNext}, {@code reset} and all else remain the program's own.
 *
 * <p>The program's thread takes the place of its iterator; the agent's thread works from the place
 * that it found, whatever the program does to the iterator.
 */
final class LoopEpoch implements LibraryEpoch {
  /** The batches of an epoch, whose number is not known. */
  static final int ASSUMED = 64;

  /** A batch that is made early may take this part of the memory that is free. */
  private static final int FREE = 4;

  private static final long HANDING_OVER = TimeUnit.MICROSECONDS.toNanos(20);
  private static final String AFTER = "after";

  /** Set while code of the program makes a batch for the agent on this thread. */
  private static final ThreadLocal<Boolean> MAKING = new ThreadLocal<>();

  private final WeakReference<Object> iterator;
  private final Class<?> type;
  private final Method method;
  private final Fields fields;
  private final PurityAnalyzer.Proof proof;
  private final List<Integer> copied;
  private final Set<Class<?>> fresh = new HashSet<>();
  private volatile @Nullable Place now;
  private volatile @Nullable Place early;
  private volatile @Nullable String reason;
  private volatile boolean repeats = true;

  /** Size of the last batch, and how long it took to make. */
  private volatile long bytes;

  private volatile long nanos = Long.MAX_VALUE;

  LoopEpoch(Object iterator, Method method, Fields fields, PurityAnalyzer.Proof proof) {
    this.iterator = new WeakReference<>(iterator);
    this.type = iterator.getClass();
    this.method = method;
    this.fields = fields;
    this.proof = proof;
    this.copied = fields.positions(proof.copied());
  }

  /** Whether this thread makes a batch for the agent. */
  static boolean isMaking() {
    return MAKING.get() != null;
  }

  /** Why batches that hold a part of that class are left alone. */
  static String otherBatches(String part) {
    return "its batches are more than Java arrays, direct buffers and records of them ("
        + part
        + ")";
  }

  // ---- on the program's thread

  /** The program asks for a batch; false if the state of its iterator cannot be taken. */
  boolean ask(Object[] arguments) {
    Place before = now;
    List<Object> given = Arrays.asList(arguments.clone());
    repeats = before == null || before.arguments().equals(given);
    now = take(given, before);
    return now != null;
  }

  private @Nullable Place take(List<Object> arguments, @Nullable Place before) {
    Place taken = Place.of(dataset(), fields, copied, arguments, before);
    if (taken == null) {
      reason = "it keeps a collection that the program may change, and that cannot be copied";
    }
    return taken;
  }

  /** Why the batches are left to the program; null if they are not. */
  @Nullable String reason() {
    return reason;
  }

  /** How long it takes to make a batch; 0 if that is not known. */
  long nanos() {
    return nanos == Long.MAX_VALUE ? 0 : nanos;
  }

  /** What was proven of it. */
  PurityAnalyzer.Proof proof() {
    return proof;
  }

  @Override
  public boolean handOver(Object unit) {
    Place before = place();
    fields.setNumbers(dataset(), ((Made) unit).after());
    now = take(before.arguments(), before);
    return true;
  }

  // ---- on either

  private static boolean isOfAgent() {
    return Thread.currentThread() instanceof AgentThread;
  }

  private Place place() {
    Place place = isOfAgent() ? early : now;
    if (place == null) {
      throw new IllegalStateException("the place of the iterator is not known");
    }
    return place;
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
    return new Key(PreparedSamples.index(place().name()), 0);
  }

  @Override
  public Object settings() {
    return place().settings();
  }

  @Override
  public boolean isCurrent(Object settings) {
    return ((Place.Settings) settings).isSame(place().settings());
  }

  @Override
  public @Nullable Object state(int unit) {
    return now == null ? null : place();
  }

  @Override
  public String change() {
    return "the program changes the fields of its iterator, or the arguments, between its batches";
  }

  /**
   * Unless the next call may have other arguments, the job may need the memory, or another thread
   * would take longer to hand the batch over than this one to make it.
   */
  @Override
  public boolean mayRunEarly() {
    Runtime memory = Runtime.getRuntime();
    long free = memory.maxMemory() - memory.totalMemory() + memory.freeMemory();
    return repeats && now != null && nanos > HANDING_OVER && bytes < free / FREE;
  }

  /** Its fields are compared before each batch. */
  @Override
  public boolean isAnnounced() {
    return false;
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Object twin = place().twin(fields);
    return twin == null ? List.of() : List.of(List.of(twin));
  }

  @Override
  public String describe(Object settings, int stage) throws CannotShareException {
    Object twin = place().twin(fields);
    return String.join(
        "\n",
        "JDK " + System.getProperty("java.runtime.version"),
        ((Place.Settings) settings).defaults().toString(),
        "method " + method,
        ObjectDescription.of("iterator", twin, new Description(proof.reads(), type)));
  }

  @Override
  public String describe(String part, @Nullable Object value) throws CannotShareException {
    return ObjectDescription.of(part, value, new Description(proof.reads(), type));
  }

  // ---- making units

  @Override
  public Object make(int unit) {
    Place place = place();
    @Nullable Object[] references = place.references();
    if (references == null) {
      throw new IllegalStateException("the program has changed its iterator");
    }
    Object twin = fields.twin(place.numbers(), references);
    Object batch;
    MAKING.set(true);
    try {
      // The program might not ask for a batch after the last one, which may take forever.
      if (isOfAgent() && !fields.hasNext(fields.twin(place.numbers(), references))) {
        throw new IllegalStateException("no more batches");
      }
      long start = System.nanoTime();
      batch = method.invoke(twin, place.arguments().toArray());
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
    return new Made(batch, fields.numbers(twin));
  }

  /**
   * Whether the batch is all that the call has made, and refers to nothing that was there before.
   */
  private void check(Object batch, @Nullable Object[] references, Object twin) {
    @Nullable Object[] after = fields.objects(twin);
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
    List<Object> kept = new ArrayList<>();
    for (int position : copied) {
      if (references[position] != null) {
        kept.add(references[position]);
      }
    }
    if (parts.hasAny(kept)) {
      throw leave("it keeps an array that it returns");
    }
    for (Class<?> made : parts.records()) {
      if (!fresh.contains(made)) {
        if (keeps(twin, made)) {
          throw leave("it keeps objects of " + made.getName() + ", which it may return");
        }
        fresh.add(made);
      }
    }
  }

  /** Whether code of the program can reach records of a class that were made before. */
  private boolean keeps(Object twin, Class<?> made) {
    List<@Nullable Object> roots = new ArrayList<>(proof.statics().values());
    roots.add(twin);
    for (Object root : roots) {
      List<Record> met =
          root == null ? List.of() : ObjectSnapshot.met(root, any -> true, Record.class);
      if (met == null || met.stream().anyMatch(made::isInstance)) {
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
    Made unkept = (Made) made;
    List<BatchLayout.Array> more = new ArrayList<>(files);
    List<Long> after = unkept.after();
    for (int from = 0; from < after.size(); from += 255) {
      List<Long> some = after.subList(from, Math.min(from + 255, after.size()));
      more.add(new BatchLayout.Array(AFTER, "", "", some, 0));
    }
    try {
      return new JavaBatch(unkept.batch(), type.getClassLoader()).bytes(more);
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
    return new Made(batch, after);
  }

  /**
   * Describes objects of the program by the fields that its code reads.
   *
   * @param reads these fields
   * @param iterator whose primitive fields are part of each batch's key
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
    public int mostObjects() {
      return 200_000;
    }

    @Override
    public boolean countsEveryOrder() {
      return true;
    }
  }
}
