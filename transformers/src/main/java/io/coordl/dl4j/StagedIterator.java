package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectSnapshot;
import io.coordl.pipeline.SamplePipeline;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * The stages of an iterator over readers, whose samples are whole batches: what it makes of its
 * records, and its preprocessor.
 *
 * @param own objects of the program that take part in the first
 * @param text what decides the first, but for the records
 * @param unsteady the preprocessors of iterators that may not do the same each time
 */
record StagedIterator(
    ProgramIterator iterator,
    String name,
    Collection<Object> own,
    String text,
    int batches,
    Map<Object, Object> unsteady)
    implements SamplePipeline {
  /**
   * What the program can change at any time.
   *
   * @param text what decides what it does; null if that is not compared, so that it is not kept
   * @param as it was described; null if the text must be compared
   */
  private record Preprocessor(
      @Nullable Object object, @Nullable String text, @Nullable ObjectSnapshot as) {
    static Preprocessor of(Object object) {
      try {
        String text = Description.of("preprocessor", object);
        Collection<Class<?>> classes = ObjectSnapshot.classes(object, type -> true);
        boolean hasArrays =
            classes == null || classes.stream().anyMatch(INDArray.class::isAssignableFrom);
        return new Preprocessor(
            object, text, hasArrays ? null : new ObjectSnapshot(object, type -> true));
      } catch (CannotShareException e) {
        return new Preprocessor(object, null, null);
      }
    }

    boolean isOf(Object now) {
      return object == now
          && (as != null ? as.isOf(now) : text == null || text.equals(of(now).text));
    }
  }

  /** Its preprocessor is not kept from now on. */
  void leavePreprocessor() {
    Object preprocessor = iterator.preprocessor();
    if (preprocessor != null) {
      unsteady.put(dataset(), preprocessor);
    }
  }

  @Override
  public Object dataset() {
    return iterator.get();
  }

  @Override
  public long size() {
    return batches;
  }

  @Override
  public Object settings() {
    Object preprocessor = iterator.preprocessor();
    return preprocessor == null || unsteady.get(dataset()) == preprocessor
        ? new Preprocessor(preprocessor, null, null)
        : Preprocessor.of(preprocessor);
  }

  @Override
  public boolean isCurrent(Object settings) {
    Object preprocessor = iterator.preprocessor();
    Preprocessor then = (Preprocessor) settings;
    return preprocessor == null ? then.object == null : then.isOf(preprocessor);
  }

  @Override
  public List<List<@Nullable Object>> stages(Object settings) {
    Preprocessor preprocessor = (Preprocessor) settings;
    List<List<@Nullable Object>> stages = new ArrayList<>();
    stages.add(new ArrayList<>(own));
    if (preprocessor.text != null) {
      stages.add(Collections.singletonList(preprocessor.object));
    }
    return stages;
  }

  @Override
  public String describe(Object settings, int stage) {
    return stage == 0 ? text : String.valueOf(((Preprocessor) settings).text);
  }

  @Override
  public String describe(String name, @Nullable Object value) throws CannotShareException {
    return Description.of(name, value);
  }
}
