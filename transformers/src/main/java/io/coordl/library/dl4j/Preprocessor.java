package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectSnapshot;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * A preprocessor in its state at one moment; the program can change it.
 *
 * @param object the preprocessor, which may refer to the iterator; null if there is none
 * @param text describes its behaviour; null if it is not compared, so its results are not cached
 * @param snapshot the object without the contents of its arrays; null if the text must be compared
 * @param arrays its arrays at that time
 */
record Preprocessor(
    @Nullable WeakReference<Object> object,
    @Nullable String text,
    @Nullable ObjectSnapshot snapshot,
    List<Values> arrays) {
  static final Preprocessor NONE = new Preprocessor(null, null, null, List.of());

  /** An array and its contents. */
  private record Values(WeakReference<INDArray> array, String text) {
    boolean isUnchanged() throws CannotShareException {
      INDArray now = array.get();
      return now != null && text.equals(describe(now));
    }
  }

  /** Returns a preprocessor that is not compared. */
  static Preprocessor unknown(Object object) {
    return new Preprocessor(new WeakReference<>(object), null, null, List.of());
  }

  static Preprocessor of(Object object) {
    try {
      String text = describe(object);
      List<INDArray> found = ObjectSnapshot.reachable(object, Preprocessor::counts, INDArray.class);
      if (found == null) {
        return new Preprocessor(new WeakReference<>(object), text, null, List.of());
      }
      List<Values> arrays = new ArrayList<>();
      for (INDArray array : found) {
        arrays.add(new Values(new WeakReference<>(array), describe(array)));
      }
      ObjectSnapshot snapshot = new ObjectSnapshot(object, Preprocessor::counts);
      return new Preprocessor(new WeakReference<>(object), text, snapshot, arrays);
    } catch (CannotShareException e) {
      return unknown(object);
    }
  }

  /** Whether to compare the fields of a class. An array's fields do not contain its values. */
  private static boolean counts(Class<?> type) {
    return !INDArray.class.isAssignableFrom(type);
  }

  private boolean isUnchanged(Object now) throws CannotShareException {
    if (snapshot == null) {
      return text == null || text.equals(describe(now));
    }
    for (Values values : arrays) {
      if (!values.isUnchanged()) {
        return false;
      }
    }
    return snapshot.isOf(now);
  }

  private static String describe(Object object) throws CannotShareException {
    return Description.ofCodeInput("preprocessor", object);
  }

  boolean isOf(Object now) {
    try {
      return object != null && object.refersTo(now) && isUnchanged(now);
    } catch (CannotShareException e) {
      return false;
    }
  }
}
