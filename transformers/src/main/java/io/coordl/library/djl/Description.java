package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.Pipeline;
import ai.djl.util.PairList;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectDescription;
import java.io.IOException;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;

/** Describes DJL's objects as text, for fingerprints and cache keys. */
record Description(boolean mapOrderMatters) implements ObjectDescription.Library {
  private static final KnownDjl KNOWN = new KnownDjl(false);
  private static final String PLACE = "ai.djl.translate.Pipeline$IndexKey";

  static String of(String what, @Nullable Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(false));
  }

  /**
   * Describes an object read by code whose samples are cached. The order of maps matters, because
   * that code may iterate over them.
   */
  static String ofCodeInput(String what, @Nullable Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(true));
  }

  @Override
  public boolean has(String className) {
    return className.startsWith(KnownDjl.PREFIX) && KNOWN.isOfLibrary(className);
  }

  @Override
  public boolean describe(Object object, ObjectDescription to)
      throws ReflectiveOperationException, IOException {
    if (object instanceof NDArray array) {
      to.write(array.getDataType() + " array " + array.getShape() + " ");
      to.writeChecksum(array.toByteBuffer(true));
    } else if (object instanceof NDManager) {
      to.write("manager");
    } else if (object instanceof Device) {
      to.write(object.toString());
    } else if (object instanceof Pipeline pipeline) {
      to.add(ObjectDescription.value(pipeline, "transforms"));
    } else if (object instanceof PairList<?, ?> pairs) {
      addPairs(pairs, to);
    } else {
      return false;
    }
    return true;
  }

  /**
   * Adds a pipeline's pairs of positions and transforms; omits the position if it is that of the
   * first array.
   */
  private static void addPairs(PairList<?, ?> pairs, ObjectDescription to)
      throws ReflectiveOperationException, IOException {
    to.write("[");
    for (int i = 0; i < pairs.size(); i++) {
      to.write(i == 0 ? "" : ", ");
      Object key = pairs.keyAt(i);
      if (key != null && key.getClass().getName().equals(PLACE)) {
        Object name = ObjectDescription.value(key, "key");
        Object place = name == null ? ObjectDescription.value(key, "index") : name;
        if (!Integer.valueOf(0).equals(place)) {
          to.write(name == null ? place + ": " : "\"" + name + "\": ");
        }
      } else {
        to.add(key);
        to.write(": ");
      }
      to.add(pairs.valueAt(i));
    }
    to.write("]");
  }

  /**
   * True for fields that data sets and iterables inherit from the library: they are described
   * separately. False for the size of a data set if samples may depend on it.
   */
  @Override
  public boolean isScratch(Field field) {
    Class<?> owner = field.getDeclaringClass();
    return (owner == RandomAccessDataset.class
            && !(mapOrderMatters && field.getName().equals("limit")))
        || owner == DataIterable.class;
  }

  @Override
  public int maxObjects() {
    return Integer.MAX_VALUE; // A data set may hold its samples.
  }
}
