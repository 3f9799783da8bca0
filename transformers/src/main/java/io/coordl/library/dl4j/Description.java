package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.ObjectDescription;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;

/** Describes objects of DL4J, DataVec and ND4J as text, for fingerprints and cache keys. */
record Description(int maxObjects, boolean mapOrderMatters) implements ObjectDescription.Library {
  /**
   * Fields in which DataVec's transforms keep working state, such as properties of the last image;
   * not settings.
   */
  private static final Set<String> SCRATCH =
      Set.of(
          ("x y h w srch srcw currentImage currentTransforms converter M splitChannels filter"
                  + " canvas")
              .split(" "));

  /**
   * Like {@link #SCRATCH}, but for one class only; in other classes, a field with this name is a
   * user setting.
   */
  private static final Set<String> SCRATCH_OF_CLASS = Set.of("FlipImageTransform.mode");

  /** Maximum number of objects in a description that is created in each epoch. */
  private static final int MAX_OBJECTS = 10_000;

  static String of(String what, @Nullable Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(MAX_OBJECTS, false));
  }

  /** Describes an object that is described once and may be large. */
  static String ofLarge(String what, Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(20 * MAX_OBJECTS, false));
  }

  /**
   * Describes an object read by code whose batches are cached. The order of maps matters, because
   * that code may iterate over them.
   */
  static String ofCodeInput(String what, @Nullable Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(MAX_OBJECTS, true));
  }

  /** Like {@link #ofCodeInput}, for an object that is described once and may be large. */
  static String ofLargeCodeInput(String what, Object object) throws CannotShareException {
    return ObjectDescription.of(what, object, new Description(20 * MAX_OBJECTS, true));
  }

  static boolean isOfLibrary(String className) {
    return ObjectDescription.startsWith(
        className, "org.datavec.", "org.nd4j.", "org.deeplearning4j.");
  }

  @Override
  public boolean has(String className) {
    return isOfLibrary(className);
  }

  @Override
  public boolean describe(Object object, ObjectDescription to) {
    String name = object.getClass().getName();
    if (object instanceof INDArray array) {
      to.write(array.dataType() + " array of " + Arrays.toString(array.shape()) + " ");
      Memory.bytes(array, to::writeChecksum);
    } else if (name.equals("org.bytedeco.opencv.opencv_core.Scalar")) {
      to.write(object.toString());
    } else if (ObjectDescription.startsWith(name, "org.slf4j.", "org.bytedeco.")) {
      to.write(name); // Loggers and native objects are irrelevant.
    } else {
      return false;
    }
    return true;
  }

  @Override
  public boolean isScratch(Field field) {
    Class<?> owner = field.getDeclaringClass();
    return java.util.Random.class.isAssignableFrom(field.getType())
        || org.nd4j.linalg.api.rng.Random.class.isAssignableFrom(field.getType())
        || (has(owner.getName())
            && (SCRATCH.contains(field.getName())
                || SCRATCH_OF_CLASS.contains(owner.getSimpleName() + "." + field.getName())));
  }
}
