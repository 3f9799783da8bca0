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
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.SequenceRecordReader;
import org.datavec.api.writable.NDArrayWritable;
import org.datavec.api.writable.NullWritable;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prepared=share} in DL4J for iterators and record readers of the program's own classes. A
 * proof from class files ({@link KnownDl4j}) shows that the result of {@code next} (for a reader of
 * sequences, {@code sequenceRecord}), and the object's place after the call, depend only on its
 * place before: the numbers in its fields, such as a cursor, and the elements of its queues of
 * numbers; on the objects in its other fields, which are compared before each call; and on the
 * files that the call opens. So the place identifies a batch or a record. When a cached one is
 * returned, the fields are set and the queues shortened as the program's own code would have done.
 * {@code hasNext}, {@code reset} and all other methods remain the program's own; if they change the
 * place, the next sample has another key.
 */
public final class OwnSources implements LibraryHooks {
  private static final String PLACE = "place";

  /** Number of samples per source class that are checked for objects that the source keeps. */
  private static final int COMPARED = 16;

  private final PreparedSamples samples;
  private final OnceLog log;

  /** Number of samples still to be checked, by class of their source. */
  private final ClassValue<AtomicInteger> toCompare =
      new ClassValue<>() {
        @Override
        protected AtomicInteger computeValue(Class<?> type) {
          return new AtomicInteger(COMPARED);
        }
      };

  /** Set while this thread looks up or prepares a sample; nested calls then pass through. */
  private final ThreadLocal<Boolean> making = new ThreadLocal<>();

  /**
   * Sources that keep objects of their samples, or replace objects in their fields. Compared by
   * identity, because the program's equals() must not be called.
   */
  private final List<WeakReference<Object>> rejected = new CopyOnWriteArrayList<>();

  public OwnSources(Class<?> anchor, Services services) throws ReflectiveOperationException {
    Symbols.field(DataSet.class, "columnNames", List.class);
    Symbols.require(Preprocessor.class, Surroundings.class, Memory.class);
    samples = new PreparedSamples(services, new PurityAnalyzer("", new KnownDl4j(true)));
    log = new OnceLog(services.log());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (!OwnSource.isOwn(self.getClass())) {
      return null;
    } else if (method.equals("reset")) {
      samples.begun(self);
      return null;
    } else if (making.get() != null
        || rejected.stream().anyMatch(one -> one.refersTo(self))
        || !isCalled(self.getClass(), type, method, arguments.length)) {
      return null;
    }
    OwnSource pipeline = new OwnSource(self);
    PreparedSamples.Plan plan = samples.plan(pipeline);
    if (plan == null) {
      return null;
    }
    Maker maker = new Maker(pipeline, method, arguments);
    long index = maker.index();
    making.set(true);
    long span = Spans.enter(self instanceof RecordReader ? SpanKind.SAMPLE : SpanKind.TAKE, self);
    Object made = null;
    try {
      made = samples.sample(plan, index, maker);
      maker.settle();
      return made == null ? InterceptedCall.skipping() : new InterceptedCall(made);
    } catch (Throwable t) {
      return InterceptedCall.throwing(t); // An exception of the program.
    } finally {
      Spans.exit(span, made);
      making.remove();
    }
  }

  /** False if the object's class overrides the method: then the override has called it. */
  private static boolean isCalled(Class<?> type, Class<?> declaring, String method, int arguments) {
    for (Class<?> at = type; at != declaring && at != null; at = at.getSuperclass()) {
      for (Method own : at.getDeclaredMethods()) {
        if (own.getName().equals(method) && own.getParameterCount() == arguments) {
          return false;
        }
      }
    }
    return true;
  }

  private final class Maker implements SampleMaker<Object> {
    private final OwnSource source;
    private final String method;
    private final Object[] arguments;
    private final OwnSource.Place before;
    private final List<@Nullable Object> kept;
    private boolean ran;
    private @Nullable String changes;

    Maker(OwnSource source, String method, Object[] arguments) {
      this.source = source;
      this.method = method;
      this.arguments = arguments;
      before = source.place();
      kept = source.objects();
    }

    /** Identifies the sample among those of the plan. */
    long index() {
      // A workspace determines where the arrays are created.
      String call = method + Arrays.toString(arguments) + Surroundings.areInWorkspace();
      return PreparedSamples.index(before.text() + call);
    }

    /** Runs the program's own call, which reaches the hook again and passes through it. */
    @Override
    public @Nullable Object get() {
      ran = true;
      Object own = source.get();
      if (own instanceof RecordReader reader) {
        return method.equals("next")
            ? reader.next()
            : ((SequenceRecordReader) reader).sequenceRecord();
      } else if (arguments.length == 0) {
        return ((Iterator<?>) own).next();
      }
      int num = (Integer) arguments[0];
      return own instanceof DataSetIterator one
          ? one.next(num)
          : ((MultiDataSetIterator) own).next(num);
    }

    @Override
    public Object transform(int stage, Object made) {
      throw new IllegalStateException("There is one stage.");
    }

    @Override
    public @Nullable PreparedBatch bytes(Object made, List<BatchLayout.Array> files) {
      AtomicInteger left = toCompare.get(source.get().getClass());
      if (!source.has(kept) || (left.getAndUpdate(n -> Math.max(0, n - 1)) > 0 && isHeld(made))) {
        rejected.removeIf(one -> one.refersTo(null));
        // The next sample may depend on objects of this one, or on what the program does to them.
        rejected.add(new WeakReference<>(source.get()));
        String each = made instanceof List ? "record" : "batch";
        log.once(PreparedSamples.leavesMessage(source.name(), "it keeps objects of each " + each));
        return null;
      }
      List<BatchLayout.Array> more = new ArrayList<>(files);
      String changed = source.place().changesSince(before);
      if (changed == null) {
        return null;
      }
      more.add(new BatchLayout.Array(PLACE, "", changed, List.of(), 0));
      return made instanceof List<?> record
          ? RecordBytes.toKeep(record, more)
          : BatchBytes.toKeep(made, more, false);
    }

    /** Whether the source refers to the sample, or to a part of it. */
    private boolean isHeld(Object made) {
      List<Object> held = source.heldObjects();
      Set<Object> parts = Collections.newSetFromMap(new IdentityHashMap<>());
      addParts(made, parts);
      return held == null || held.stream().anyMatch(parts::contains);
    }

    private static void addParts(@Nullable Object made, Set<Object> parts) {
      if (made == null || made == NullWritable.INSTANCE) {
        return;
      }
      parts.add(made);
      if (made instanceof List<?> record) {
        record.forEach(part -> addParts(part, parts));
      } else if (made instanceof NDArrayWritable array) {
        addParts(array.get(), parts);
      } else if (made instanceof DataSet batch) {
        addParts(batch.getFeatures(), parts);
        addParts(batch.getLabels(), parts);
        addParts(batch.getFeaturesMaskArray(), parts);
        addParts(batch.getLabelsMaskArray(), parts);
      } else if (made instanceof MultiDataSet batch) {
        for (INDArray[] arrays :
            Arrays.asList(
                batch.getFeatures(),
                batch.getLabels(),
                batch.getFeaturesMaskArrays(),
                batch.getLabelsMaskArrays())) {
          for (INDArray array : arrays == null ? new INDArray[0] : arrays) {
            addParts(array, parts);
          }
        }
      }
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) {
      for (BatchLayout.Array part : layout.arrays()) {
        if (part.role().equals(PLACE)) {
          changes = part.name();
        }
      }
      return RecordBytes.isIn(layout)
          ? RecordBytes.copied(layout, bytes)
          : BatchBytes.copied(layout, bytes);
    }

    @Override
    @SuppressWarnings("try") // Open only while the arrays are made.
    public void probe(BatchLayout layout, ByteBuffer bytes) {
      try (MemoryWorkspace none = Nd4j.getMemoryManager().scopeOutOfWorkspaces()) {
        read(layout, bytes);
      }
    }

    /** Makes the changes to the object that its own code would have made. */
    void settle() {
      String made = changes;
      if (!ran && made != null) {
        source.move(before, made);
      }
    }
  }
}
