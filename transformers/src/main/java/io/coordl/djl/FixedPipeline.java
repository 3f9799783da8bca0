package io.coordl.djl;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Transform;
import ai.djl.util.PairList;
import io.coordl.pipeline.LibraryField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A pipeline as it was when a batch was begun. The program may add transforms to its pipeline at
 * any time, and change the arrays that it gave {@link Normalize}: so the batch is made with a copy,
 * and is what the program's own call would make as long as the two are alike.
 *
 * @param copy what the batch is made with; no other object has it; null if the program has none
 * @param keys places of the transforms in the program's pipeline
 * @param transforms the program's own
 */
record FixedPipeline(@Nullable Pipeline copy, List<Object> keys, List<Part> transforms) {
  /** A transform of the program's, and its arrays as they were. */
  private record Part(Transform own, List<float[]> arrays) {
    boolean isSame(Object transform, Copies copies) {
      List<float[]> now = copies.arrays(own);
      return own == transform
          && IntStream.range(0, arrays.size())
              .allMatch(i -> Arrays.equals(arrays.get(i), now.get(i)));
    }
  }

  /** Whether the other one has the same transforms, whatever their arrays hold. */
  boolean hasSameTransforms(FixedPipeline other) {
    return (copy == null) == (other.copy == null)
        && size() == other.size()
        && IntStream.range(0, size())
            .allMatch(i -> transforms.get(i).own == other.transforms.get(i).own);
  }

  int size() {
    return transforms.size();
  }

  /** The first transforms as they were, a pipeline for each: the program's own, or copies. */
  List<Pipeline> stages(int count, Copies copies) {
    return IntStream.range(0, count)
        .mapToObj(i -> copies.part(Objects.requireNonNull(copy), i, i + 1))
        .toList();
  }

  /** The program's transforms, one list for each, but those of which a copy is used. */
  List<List<@Nullable Object>> objects() {
    List<List<@Nullable Object>> objects = new ArrayList<>();
    for (Part part : transforms) {
      objects.add(part.arrays.isEmpty() ? Collections.singletonList(part.own) : List.of());
    }
    return objects;
  }

  /** Whether a pipeline is what a batch was made with. */
  boolean isOf(@Nullable Pipeline now, Copies copies) {
    if (copy == null || now == null) {
      return copy == null && now == null;
    }
    PairList<?, ?> pairs = copies.pairs(now);
    return pairs.size() == size()
        && IntStream.range(0, size())
            .allMatch(
                i ->
                    pairs.keyAt(i) == keys.get(i)
                        && transforms.get(i).isSame(pairs.valueAt(i), copies));
  }

  static final class Copies {
    private final LibraryField<Object> pairs = LibraryField.of(Pipeline.class, "transforms");
    private final LibraryField<float[]> mean =
        LibraryField.of(Normalize.class, "mean", float[].class);
    private final LibraryField<float[]> std =
        LibraryField.of(Normalize.class, "std", float[].class);

    Copies() throws NoSuchFieldException {}

    private PairList<?, ?> pairs(Pipeline pipeline) {
      return (PairList<?, ?>) pairs.require(pipeline);
    }

    private List<float[]> arrays(Transform transform) {
      return transform.getClass() == Normalize.class
          ? List.of(mean.require(transform), std.require(transform))
          : List.of();
    }

    /** Whether it does what its transforms do: a subclass may do anything else. */
    static boolean isPlain(@Nullable Pipeline pipeline) {
      return pipeline == null || pipeline.getClass() == Pipeline.class;
    }

    int size(Pipeline pipeline) {
      return pairs(pipeline).size();
    }

    /** The transforms from one to another, which is not of them. */
    Pipeline part(Pipeline pipeline, int from, int to) {
      PairList<?, ?> own = pairs(pipeline);
      List<Object> keys = new ArrayList<>(own.keys().subList(from, to));
      List<Object> transforms = new ArrayList<>(own.values().subList(from, to));
      Pipeline part = new Pipeline();
      pairs.set(part, new PairList<>(keys, transforms));
      return part;
    }

    FixedPipeline copy(@Nullable Pipeline pipeline) {
      if (pipeline == null) {
        return new FixedPipeline(null, List.of(), List.of());
      }
      List<Object> keys = new ArrayList<>();
      List<Part> parts = new ArrayList<>();
      List<Transform> copies = new ArrayList<>();
      PairList<?, ?> own = pairs(pipeline);
      for (int i = 0; i < own.size(); i++) {
        Transform transform = (Transform) own.valueAt(i);
        List<float[]> arrays = arrays(transform).stream().map(float[]::clone).toList();
        keys.add(own.keyAt(i));
        parts.add(new Part(transform, arrays));
        copies.add(arrays.isEmpty() ? transform : new Normalize(arrays.get(0), arrays.get(1)));
      }
      Pipeline copy = new Pipeline();
      pairs.set(copy, new PairList<>(keys, copies));
      return new FixedPipeline(copy, keys, parts);
    }
  }
}
