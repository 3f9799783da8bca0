package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SampleMaker;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.telemetry.log.OnceLog;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;

/**
 * {@code prepared=share} in DL4J for iterators of the program's own classes. A proof from class
 * files ({@link KnownDl4j}) shows that the result of {@code next}, and the numbers in the
 * iterator's fields after the call, depend only on the previous numbers in these fields (the
 * cursor) and on the files that the call opens. So these numbers identify a batch. When a cached
 * batch is returned, the fields are set to the values that the iterator's own code would have set.
 * {@code hasNext}, {@code reset} and all other methods remain the program's own; if they change a
 * number, the next batch has another key.
 */
public final class ProgramIterators implements LibraryHooks {
  private static final String PLACE = "place";

  private final PreparedSamples samples;
  private final OnceLog log;

  /** Whether iterators of a class are examined. */
  private final ClassValue<Boolean> own =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return OwnIterator.isOwn(type);
        }
      };

  /** Set while the program's own code prepares a batch on this thread. */
  private final ThreadLocal<Boolean> making = new ThreadLocal<>();

  /**
   * Iterators that hold objects of their batches; compared by identity, because the program's
   * equals() must not be called.
   */
  private final List<WeakReference<Object>> rejected = new CopyOnWriteArrayList<>();

  public ProgramIterators(Class<?> anchor, Services services) throws ReflectiveOperationException {
    Symbols.field(DataSet.class, "columnNames", List.class);
    Symbols.require(Preprocessor.class, Surroundings.class, Memory.class);
    samples = new PreparedSamples(services, new PurityAnalyzer("", new KnownDl4j(true)));
    log = new OnceLog(services.log());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (!(self instanceof Iterator<?> iterator)
        || !own.get(self.getClass())
        || making.get() != null
        || rejected.stream().anyMatch(one -> one.refersTo(self))
        || !isCalled(self.getClass(), type, arguments.length)) {
      return null;
    }
    OwnIterator pipeline = new OwnIterator(iterator);
    PreparedSamples.Plan plan = samples.plan(pipeline);
    if (plan == null) {
      return null;
    }
    Maker maker = new Maker(pipeline, arguments);
    long index = PreparedSamples.index(maker.before + Arrays.toString(arguments));
    making.set(true);
    long span = Spans.enter(SpanKind.TAKE, self);
    Object batch = null;
    try {
      batch = samples.sample(plan, index, maker);
      maker.settle();
      return batch == null ? InterceptedCall.skipping() : new InterceptedCall(batch);
    } catch (Throwable t) {
      return InterceptedCall.throwing(t); // An exception of the program.
    } finally {
      Spans.exit(span, batch);
      making.remove();
    }
  }

  /** False for a method that the iterator's class overrides: the override has called it. */
  private static boolean isCalled(Class<?> type, Class<?> declaring, int arguments) {
    for (Class<?> at = type; at != declaring && at != null; at = at.getSuperclass()) {
      for (Method method : at.getDeclaredMethods()) {
        if (method.getName().equals("next") && method.getParameterCount() == arguments) {
          return false;
        }
      }
    }
    return true;
  }

  private final class Maker implements SampleMaker<Object> {
    private final OwnIterator iterator;
    private final Object[] arguments;
    private final List<Long> before;
    private final List<@Nullable Object> kept;
    private boolean ran;
    private @Nullable String place;

    Maker(OwnIterator iterator, Object[] arguments) {
      this.iterator = iterator;
      this.arguments = arguments;
      before = iterator.numbers();
      kept = iterator.objects();
    }

    /** Runs the program's own call, which reaches the hook again and passes through it. */
    @Override
    public @Nullable Object get() {
      ran = true;
      Iterator<?> own = iterator.get();
      if (arguments.length == 0) {
        return own.next();
      }
      int num = (Integer) arguments[0];
      return own instanceof DataSetIterator one
          ? one.next(num)
          : ((MultiDataSetIterator) own).next(num);
    }

    @Override
    public Object transform(int stage, Object batch) {
      throw new IllegalStateException("There is one stage.");
    }

    @Override
    public @Nullable PreparedBatch bytes(Object batch, List<BatchLayout.Array> files) {
      if (!iterator.has(kept)) {
        rejected.removeIf(one -> one.refersTo(null));
        // The next batch may depend on objects held from this one.
        rejected.add(new WeakReference<>(iterator.get()));
        log.once(PreparedSamples.leavesMessage(iterator.name(), "it keeps objects of each batch"));
        return null;
      }
      List<BatchLayout.Array> more = new ArrayList<>(files);
      more.add(new BatchLayout.Array(PLACE, "", iterator.numbers().toString(), List.of(), 0));
      return BatchBytes.toKeep(batch, more, false);
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) {
      for (BatchLayout.Array part : layout.arrays()) {
        if (part.role().equals(PLACE)) {
          place = part.name();
        }
      }
      return BatchBytes.copied(layout, bytes);
    }

    @Override
    public void probe(BatchLayout layout, ByteBuffer bytes) {
      BatchBytes.probe(layout, bytes);
    }

    /** Leaves the iterator in the state that its own code would have left it in. */
    void settle() {
      String numbersAfter = place;
      if (!ran && numbersAfter != null) {
        iterator.set(numbersAfter);
      }
    }
  }
}
