package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectSnapshot;
import io.coordl.pipeline.SamplePipeline;
import io.coordl.pipeline.Worth;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * An iterator over readers as two stages: making a batch from records, and its preprocessor. Its
 * samples are whole batches.
 *
 * @param text determines the first stage, apart from the records
 * @param unsteady preprocessors that may behave differently each time, by iterator
 * @param worth of its kind
 */
record StagedIterator(
    ProgramEpoch epoch, String text, Map<Object, WeakReference<Object>> unsteady, Worth worth)
    implements SamplePipeline {
  /**
   * State that the program can change at any time.
   *
   * @param object the preprocessor, which may refer to the iterator
   * @param text describes its behaviour; null if that is not compared, so that nothing is kept
   * @param as snapshot without the contents of its arrays; null if the text must be compared
   * @param arrays its arrays at that time
   */
  record Preprocessor(
      @Nullable WeakReference<Object> object,
      @Nullable String text,
      @Nullable ObjectSnapshot as,
      List<Values> arrays) {
    static final Preprocessor NONE = new Preprocessor(null, null, null, List.of());

    /** An array and its contents. */
    private record Values(WeakReference<INDArray> array, String text) {
      boolean isUnchanged() throws CannotShareException {
        INDArray now = array.get();
        return now != null && text.equals(describe(now));
      }
    }

    /** A preprocessor that is not compared. */
    static Preprocessor unknown(Object object) {
      return new Preprocessor(new WeakReference<>(object), null, null, List.of());
    }

    static Preprocessor of(Object object) {
      try {
        String text = describe(object);
        List<INDArray> found = ObjectSnapshot.met(object, Preprocessor::counts, INDArray.class);
        if (found == null) {
          return new Preprocessor(new WeakReference<>(object), text, null, List.of());
        }
        List<Values> arrays = new ArrayList<>();
        for (INDArray array : found) {
          arrays.add(new Values(new WeakReference<>(array), describe(array)));
        }
        ObjectSnapshot as = new ObjectSnapshot(object, Preprocessor::counts);
        return new Preprocessor(new WeakReference<>(object), text, as, arrays);
      } catch (CannotShareException e) {
        return unknown(object);
      }
    }

    /** The contents of an array are not among its fields. */
    private static boolean counts(Class<?> type) {
      return !INDArray.class.isAssignableFrom(type);
    }

    private boolean isUnchanged(Object now) throws CannotShareException {
      if (as == null) {
        return text == null || text.equals(describe(now));
      }
      for (Values values : arrays) {
        if (!values.isUnchanged()) {
          return false;
        }
      }
      return as.isOf(now);
    }

    private static String describe(Object object) throws CannotShareException {
      return Description.ofRead("preprocessor", object);
    }

    boolean isOf(Object now) {
      try {
        return object != null && object.refersTo(now) && isUnchanged(now);
      } catch (CannotShareException e) {
        return false;
      }
    }
  }

  /**
   * @param text as above, which may be long
   * @param told settings that the program can change at any time
   */
  private record Settings(String text, List<Object> told, Preprocessor preprocessor) {}

  /** Global properties that affect batches and never change in this process. */
  static String process() {
    return String.join(
        "\n",
        "JDK " + System.getProperty("java.runtime.version"),
        "threads " + System.getenv("OMP_NUM_THREADS"),
        Nd4j.getBackend().buildInfo());
  }

  /** Global settings that the library reads. */
  static List<Object> told() {
    return List.of(
        Nd4j.dataType(),
        Nd4j.defaultFloatingPointType(),
        Nd4j.order(),
        Nd4j.EPS_THRESHOLD,
        Nd4j.getEnvironment().maxThreads(), // The order of summation may depend on it.
        SamplePipeline.defaults(),
        // Kept batches record whether their arrays belong to a workspace.
        Nd4j.getMemoryManager().getCurrentWorkspace() == null ? "no workspace" : "workspace");
  }

  ProgramIterator iterator() {
    return epoch.program();
  }

  Collection<SeekableReader> readers() {
    return epoch.readers().values();
  }

  /** Whether its readers behave as they did when the epoch began. */
  boolean isSteady() {
    return readers().stream().allMatch(SeekableReader::isSteady);
  }

  /** Stops keeping the results of its preprocessor. */
  void leavePreprocessor() {
    Object preprocessor = iterator().preprocessor();
    if (preprocessor != null) {
      unsteady.put(dataset(), new WeakReference<>(preprocessor)); // It may refer to the iterator.
    }
  }

  private boolean isUnsteady(Object preprocessor) {
    WeakReference<Object> left = unsteady.get(dataset());
    return left != null && left.refersTo(preprocessor);
  }

  @Override
  public Object dataset() {
    return iterator().get();
  }

  @Override
  public String name() {
    return epoch.name();
  }

  @Override
  public long size() {
    return epoch.batches();
  }

  @Override
  public Object settings() {
    Object preprocessor = iterator().preprocessor();
    Preprocessor now;
    if (preprocessor == null) {
      now = Preprocessor.NONE;
    } else if (isUnsteady(preprocessor)) {
      now = Preprocessor.unknown(preprocessor);
    } else {
      now = Preprocessor.of(preprocessor);
    }
    return new Settings(text, told(), now);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Object preprocessor = iterator().preprocessor();
    Settings then = (Settings) settings;
    return then.text.equals(text)
        && then.told.equals(told())
        && (preprocessor == null
            ? then.preprocessor.object == null
            : then.preprocessor.isOf(preprocessor));
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Preprocessor preprocessor = ((Settings) settings).preprocessor;
    List<List<@Nullable Object>> stages = new ArrayList<>();
    stages.add(new ArrayList<>(OwnCode.of(readers())));
    if (preprocessor.text != null) {
      stages.add(
          Collections.singletonList(
              preprocessor.object == null ? null : preprocessor.object.get()));
    }
    return stages;
  }

  @Override
  public String describe(Object settings, int stage) {
    Settings now = (Settings) settings;
    return stage == 0 ? now.text + "\n" + now.told : String.valueOf(now.preprocessor.text);
  }

  @Override
  public String describe(String name, @Nullable Object value) throws CannotShareException {
    return Description.ofRead(name, value);
  }
}
