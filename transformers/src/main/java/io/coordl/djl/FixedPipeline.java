package io.coordl.djl;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.translate.Pipeline;
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
record FixedPipeline(Copies copies, @Nullable Pipeline copy, List<?> keys, List<?> transforms) {
  int size() {
    return transforms.size();
  }

  /** Whether the other one has the same transforms, whatever their arrays hold. */
  boolean hasSameTransforms(FixedPipeline other) {
    return (copy == null) == (other.copy == null) && areSame(transforms, other.transforms);
  }

  private static boolean areSame(List<?> one, List<?> other) {
    return one.size() == other.size()
        && IntStream.range(0, one.size()).allMatch(i -> one.get(i) == other.get(i));
  }

  /** A pipeline of one transform as it was: the program's own, or a copy. */
  Pipeline part(int number) {
    return copies.part(Objects.requireNonNull(copy), number, number + 1);
  }

  /** The program's transforms, one list for each, but those of which a copy is used. */
  List<List<@Nullable Object>> objects() {
    List<?> used = copy == null ? List.of() : copies.pairs(copy).values();
    List<List<@Nullable Object>> objects = new ArrayList<>();
    for (int i = 0; i < size(); i++) {
      Object own = transforms.get(i);
      objects.add(used.get(i) == own ? Collections.singletonList(own) : List.of());
    }
    return objects;
  }

  /** Whether a pipeline is what a batch was made with. */
  boolean isOf(@Nullable Pipeline now) {
    if (copy == null || now == null) {
      return copy == null && now == null;
    }
    PairList<?, ?> pairs = copies.pairs(now);
    List<?> used = copies.pairs(copy).values();
    return areSame(pairs.keys(), keys)
        && areSame(pairs.values(), transforms)
        && IntStream.range(0, size())
            .allMatch(
                i ->
                    Arrays.deepEquals(
                        copies.arrays(transforms.get(i)), copies.arrays(used.get(i))));
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

    /** Those that the program gave it, and may change. */
    private float[][] arrays(Object transform) {
      return transform.getClass() == Normalize.class
          ? new float[][] {mean.require(transform), std.require(transform)}
          : new float[0][];
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
      return of(own.keys().subList(from, to), own.values().subList(from, to));
    }

    private Pipeline of(List<?> keys, List<?> transforms) {
      Pipeline made = new Pipeline();
      pairs.set(made, new PairList<>(new ArrayList<>(keys), new ArrayList<>(transforms)));
      return made;
    }

    FixedPipeline copy(@Nullable Pipeline pipeline) {
      if (pipeline == null) {
        return new FixedPipeline(this, null, List.of(), List.of());
      }
      List<Object> keys = new ArrayList<>(pairs(pipeline).keys());
      List<Object> transforms = new ArrayList<>(pairs(pipeline).values());
      List<Object> used = new ArrayList<>();
      for (Object transform : transforms) {
        float[][] own = arrays(transform);
        used.add(own.length == 0 ? transform : new Normalize(own[0].clone(), own[1].clone()));
      }
      return new FixedPipeline(this, of(keys, used), keys, transforms);
    }
  }
}
