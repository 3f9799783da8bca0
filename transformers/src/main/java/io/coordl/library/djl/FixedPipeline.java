package io.coordl.library.djl;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.util.PairList;
import io.coordl.pipeline.LibraryField;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline in the state that it had when a batch was started. The program may add transforms to
 * its pipeline at any time, and change the arrays that it passed to {@link Normalize}. So a copy
 * prepares the batch. The batch equals the result of the program's own call as long as the two
 * pipelines are equal. Refers to the program's transforms weakly, because one may refer to the data
 * set.
 *
 * @param isPresent whether the program has a pipeline
 * @param keys keys of the transforms in the program's pipeline: the array to which each applies
 * @param transforms the program's own
 * @param used copies of those whose arrays the program may change, null for the others
 */
record FixedPipeline(
    Copies copies,
    boolean isPresent,
    List<?> keys,
    List<WeakReference<Object>> transforms,
    List<@Nullable Object> used) {
  int size() {
    return transforms.size();
  }

  /** Whether both have the same transforms; ignores the contents of their arrays. */
  boolean hasSameTransforms(FixedPipeline other) {
    return isPresent == other.isPresent
        && size() == other.size()
        && IntStream.range(0, size()).allMatch(i -> own(i) != null && own(i) == other.own(i));
  }

  private @Nullable Object own(int number) {
    return transforms.get(number).get();
  }

  /** Returns a pipeline that no other object refers to; null if the program has none. */
  @Nullable Pipeline copy() {
    return isPresent ? part(0, size()) : null;
  }

  /** Returns a pipeline of one transform in its recorded state: the program's own, or a copy. */
  Pipeline part(int number) {
    return part(number, number + 1);
  }

  /** Must be called while the program still refers to its transforms. */
  private Pipeline part(int from, int to) {
    List<Object> parts = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Object instead = used.get(i);
      parts.add(Objects.requireNonNull(instead == null ? own(i) : instead, "a transform is gone"));
    }
    return copies.of(keys.subList(from, to), parts);
  }

  /** Returns a list per transform: the program's transform, or empty if a copy replaces it. */
  List<List<@Nullable Object>> objects() {
    List<List<@Nullable Object>> objects = new ArrayList<>();
    for (int i = 0; i < size(); i++) {
      objects.add(used.get(i) == null ? Collections.singletonList(own(i)) : List.of());
    }
    return objects;
  }

  /** Whether a pipeline equals the recorded one. */
  boolean isOf(@Nullable Pipeline now) {
    if (!isPresent || now == null) {
      return !isPresent && now == null;
    }
    PairList<?, ?> pairs = copies.pairs(now);
    return areSame(pairs.keys(), keys)
        && pairs.size() == size()
        && IntStream.range(0, size()).allMatch(i -> isOf(pairs.valueAt(i), i));
  }

  private static boolean areSame(List<?> one, List<?> other) {
    return one.size() == other.size()
        && IntStream.range(0, one.size()).allMatch(i -> one.get(i) == other.get(i));
  }

  /** Whether a transform is the recorded one with this number, or equals the copy of that one. */
  private boolean isOf(@Nullable Object transform, int number) {
    Object instead = used.get(number);
    return transform != null
        && (instead == null
            ? transform == own(number)
            : transform.getClass() == instead.getClass()
                && Arrays.deepEquals(copies.arrays(transform), copies.arrays(instead)));
  }

  static final class Copies {
    private final LibraryField<Object> pairs = LibraryField.of(Pipeline.class, "transforms");
    private final LibraryField<float[]> mean =
        LibraryField.of(Normalize.class, "mean", float[].class);
    private final LibraryField<float[]> std =
        LibraryField.of(Normalize.class, "std", float[].class);

    /** The key of a transform for the first array. */
    private final Object first;

    Copies() throws NoSuchFieldException {
      first = pairs(new Pipeline(new ToTensor())).keyAt(0);
    }

    private PairList<?, ?> pairs(Pipeline pipeline) {
      return (PairList<?, ?>) pairs.require(pipeline);
    }

    /** Returns the arrays that the program passed to a transform, and may change. */
    float[][] arrays(Object transform) {
      return transform.getClass() == Normalize.class
          ? new float[][] {mean.require(transform), std.require(transform)}
          : new float[0][];
    }

    /** Whether a pipeline only applies its transforms; a subclass may do anything else. */
    static boolean isPlain(@Nullable Pipeline pipeline) {
      return pipeline == null || pipeline.getClass() == Pipeline.class;
    }

    int size(Pipeline pipeline) {
      return pairs(pipeline).size();
    }

    /** Returns a pipeline's transforms; empty if one of them is not for the first array. */
    List<Transform> transforms(Pipeline pipeline) {
      PairList<?, ?> all = pairs(pipeline);
      return all.keys().stream().allMatch(key -> key.equals(first))
          ? all.values().stream().map(one -> (Transform) one).toList()
          : List.of();
    }

    /** Returns a pipeline of the transforms in a range whose end is exclusive. */
    Pipeline part(Pipeline pipeline, int from, int to) {
      PairList<?, ?> own = pairs(pipeline);
      return of(own.keys().subList(from, to), own.values().subList(from, to));
    }

    private Pipeline of(List<?> keys, List<?> transforms) {
      Pipeline made = new Pipeline();
      pairs.set(made, new PairList<>(new ArrayList<>(keys), new ArrayList<>(transforms)));
      return made;
    }

    FixedPipeline copy(@Nullable Pipeline pipeline) {
      if (pipeline == null) {
        return new FixedPipeline(this, false, List.of(), List.of(), List.of());
      }
      List<WeakReference<Object>> transforms = new ArrayList<>();
      List<@Nullable Object> used = new ArrayList<>();
      for (Object transform : pairs(pipeline).values()) {
        float[][] own = arrays(transform);
        transforms.add(new WeakReference<>(transform));
        used.add(own.length == 0 ? null : new Normalize(own[0].clone(), own[1].clone()));
      }
      return new FixedPipeline(
          this, true, new ArrayList<>(pairs(pipeline).keys()), transforms, used);
    }
  }
}
